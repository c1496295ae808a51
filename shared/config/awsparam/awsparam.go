// Package awsparam reads parameters from SSM Parameter Store, such as the public base URL that the template writes
// there. It is apart from package config so that only functions that need one link its client; it keeps nothing,
// callers read once per cold start.
package awsparam

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// Getter is the part of the SSM client that is used.
type Getter interface {
	GetParameter(ctx context.Context, in *ssm.GetParameterInput, options ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Read returns the value of the parameter called name. An empty one is an error: no function works without its value.
func Read(ctx context.Context, client Getter, name string) (string, error) {
	out, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
	if err != nil {
		return "", fmt.Errorf("read parameter %s: %w", name, err)
	}
	if out.Parameter == nil || aws.ToString(out.Parameter.Value) == "" {
		return "", fmt.Errorf("parameter %s is empty", name)
	}
	return aws.ToString(out.Parameter.Value), nil
}
