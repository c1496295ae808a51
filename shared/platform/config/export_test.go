package config

import "github.com/aws/aws-sdk-go-v2/aws"

// PlainBodies returns the HTTP client that wraps net/http's client for the SDK.
func PlainBodies(next aws.HTTPClient) aws.HTTPClient { return plainBodies{next} }
