package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/local/runfile"
)

// configuration finds the stack whose outputs are in a file. An operator signs in as people do: profiles, single sign-on. What
// `make run` writes of itself holds both outputs and a way in, which goes before the environment's.
func configuration(ctx context.Context, file string) (aws.Config, map[string]string, error) {
	if here, ok := embedded(file); ok {
		return aws.Config{
			Region: here.Region, BaseEndpoint: &here.EndpointURL,
			Credentials: credentials.NewStaticCredentialsProvider(here.AccessKeyID, here.SecretAccessKey, ""),
		}, here.Outputs, nil
	}
	outputs, err := readOutputs(file)
	if err != nil {
		return aws.Config{}, nil, err
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	return cfg, outputs, err
}

// embedded reads the part of a run file that is about the embedded AWS; ok is false for any other file.
func embedded(file string) (here runfile.AWS, ok bool) {
	body, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	var run runfile.Run
	if err != nil || json.Unmarshal(body, &run) != nil {
		return runfile.AWS{}, false
	}
	return run.AWS, run.AWS.EndpointURL != ""
}
