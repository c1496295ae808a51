package config

import "github.com/aws/aws-sdk-go-v2/aws"

// PlainBodies makes the client that stands between the SDK and net/http.
func PlainBodies(next aws.HTTPClient) aws.HTTPClient { return plainBodies{next} }
