package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/config/awscall"
)

// named is a stack on AWS, by its name or ARN.
func named(ctx context.Context, name string) (found, error) {
	cfg, err := signedIn(ctx)
	if err != nil {
		return found{}, err
	}
	outputs, err := describe(ctx, cfg, name)
	if err != nil {
		return found{}, fmt.Errorf("-stack %s in %s: %w", name, cfg.Region, err)
	}
	return found{name: "stack " + name + " in " + cfg.Region, config: cfg, outputs: outputs}, nil
}

// describe reads the outputs of a stack (AWS CloudFormation API Reference, DescribeStacks).
func describe(ctx context.Context, cfg aws.Config, name string) (outputs map[string]string, err error) {
	err = awscall.Do(ctx, cfg, time.Now, awscall.Call{
		Service: "cloudformation", SDKID: "CLOUDFORMATION",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		Body:   url.Values{"Action": {"DescribeStacks"}, "Version": {"2010-05-15"}, "StackName": {name}}.Encode(),
		Read:   func(status int, answer []byte) error { outputs, err = readDescription(status, answer); return err },
	})
	return outputs, err
}

func readDescription(status int, answer []byte) (map[string]string, error) {
	var described struct {
		Error struct {
			Code    string
			Message string
		}
		Outputs []struct {
			OutputKey   string
			OutputValue string
		} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
	}
	if err := xml.Unmarshal(answer, &described); err != nil || status != http.StatusOK {
		return nil, &awscall.RefusedError{Status: status, Code: described.Error.Code, Message: described.Error.Message}
	}
	outputs := make(map[string]string, len(described.Outputs))
	for _, output := range described.Outputs {
		outputs[output.OutputKey] = output.OutputValue
	}
	return outputs, nil
}
