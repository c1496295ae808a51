package config

import "github.com/aws/aws-sdk-go-v2/aws"

// PlainBodies returns the HTTP client that is placed between the SDK and net/http.
func PlainBodies(next aws.HTTPClient) aws.HTTPClient { return plainBodies{next} }
