// Package cloudformation lets operator programs read a deployed stack's outputs and resources and protect the stack
// from deletion. The package replaces the SDK's CloudFormation client, which has 3.7 MB of source code. The SDK's
// client also requires a different version of the core module than the functions do.
package cloudformation

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/platform/config/awscall"
)

const version = "2010-05-15"

// Outputs returns the outputs of the stack with the given name or ARN (AWS CloudFormation API Reference,
// DescribeStacks).
func Outputs(ctx context.Context, cfg aws.Config, now func() time.Time, stack string) (map[string]string, error) {
	var described struct {
		Outputs []struct {
			OutputKey   string
			OutputValue string
		} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
	}
	if err := ask(ctx, cfg, now, url.Values{"Action": {"DescribeStacks"}, "StackName": {stack}}, &described); err != nil {
		return nil, err
	}
	outputs := make(map[string]string, len(described.Outputs))
	for _, output := range described.Outputs {
		outputs[output.OutputKey] = output.OutputValue
	}
	return outputs, nil
}

// Status returns the status of the stack with the given name or ARN, such as "UPDATE_COMPLETE".
func Status(ctx context.Context, cfg aws.Config, now func() time.Time, stack string) (string, error) {
	var described struct {
		Status string `xml:"DescribeStacksResult>Stacks>member>StackStatus"`
	}
	err := ask(ctx, cfg, now, url.Values{"Action": {"DescribeStacks"}, "StackName": {stack}}, &described)
	return described.Status, err
}

// IsMissing reports whether err indicates that the requested stack does not exist.
func IsMissing(err error) bool {
	refused, ok := errors.AsType[*awscall.RefusedError](err)
	return ok && refused.Code == "ValidationError" && strings.HasSuffix(refused.Message, " does not exist")
}

// PhysicalID returns the physical ID of a resource, given its logical ID in the template (DescribeStackResource).
func PhysicalID(ctx context.Context, cfg aws.Config, now func() time.Time, stack, logicalID string) (string, error) {
	var described struct {
		ID string `xml:"DescribeStackResourceResult>StackResourceDetail>PhysicalResourceId"`
	}
	err := ask(ctx, cfg, now, url.Values{
		"Action": {"DescribeStackResource"}, "StackName": {stack},
		"LogicalResourceId": {logicalID},
	}, &described)
	return described.ID, err
}

// Functions returns the names of the stack's Lambda functions by logical ID (ListStackResources).
func Functions(ctx context.Context, cfg aws.Config, now func() time.Time, stack string) (map[string]string, error) {
	functions := map[string]string{}
	question := url.Values{"Action": {"ListStackResources"}, "StackName": {stack}}
	for {
		var page struct {
			Next      string `xml:"ListStackResourcesResult>NextToken"`
			Resources []struct {
				LogicalResourceID  string `xml:"LogicalResourceId"`
				PhysicalResourceID string `xml:"PhysicalResourceId"`
				ResourceType       string
			} `xml:"ListStackResourcesResult>StackResourceSummaries>member"`
		}
		if err := ask(ctx, cfg, now, question, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Resources {
			if r.ResourceType == "AWS::Lambda::Function" && r.PhysicalResourceID != "" {
				functions[r.LogicalResourceID] = r.PhysicalResourceID
			}
		}
		if page.Next == "" {
			return functions, nil
		}
		question.Set("NextToken", page.Next)
	}
}

// Protect enables termination protection for a stack. A protected stack can't be deleted until the protection is
// disabled (UpdateTerminationProtection).
func Protect(ctx context.Context, cfg aws.Config, now func() time.Time, stack string) error {
	var protected struct{}
	return ask(ctx, cfg, now, url.Values{
		"Action": {"UpdateTerminationProtection"}, "StackName": {stack}, "EnableTerminationProtection": {"true"},
	}, &protected)
}

func ask(ctx context.Context, cfg aws.Config, now func() time.Time, question url.Values, out any) error {
	question.Set("Version", version)
	return awscall.Do(ctx, cfg, now, awscall.Call{
		Service: "cloudformation", SDKID: "CLOUDFORMATION", Body: question.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && xml.Unmarshal(answer, out) == nil {
				return nil
			}
			var refused struct {
				Error struct{ Code, Message string }
			}
			if xml.Unmarshal(answer, &refused) != nil {
				return &awscall.RefusedError{Status: status}
			}
			return &awscall.RefusedError{Status: status, Code: refused.Error.Code, Message: refused.Error.Message}
		},
	})
}
