// Package awsparam reads parameters from SSM Parameter Store, such as the public base URL, which the template stores
// there. The package is separate from package config so that only functions that read parameters link it. The package
// doesn't cache parameters: callers read each parameter once per cold start.
package awsparam

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/platform/config/awscall"
)

// Read returns a parameter's value (Systems Manager API Reference, GetParameter). Read returns an error for an empty
// value, because no function can use an empty parameter.
func Read(ctx context.Context, cfg aws.Config, now func() time.Time, name string) (string, error) {
	var out struct{ Parameter struct{ Value string } }
	get := awscall.Operation{Service: "ssm", SDKID: "SSM", Target: "AmazonSSM.GetParameter"}
	err := awscall.JSON(ctx, cfg, now, get, map[string]string{"Name": name}, &out)
	if err == nil && out.Parameter.Value == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("read parameter %s: %w", name, err)
	}
	return out.Parameter.Value, nil
}

// IsMissing reports whether an error from Read means that the parameter does not exist.
func IsMissing(err error) bool {
	refused, ok := errors.AsType[*awscall.RefusedError](err)
	return ok && refused.Code == "ParameterNotFound"
}
