package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
)

// signInTimeout limits the time spent searching for credentials. Searching for credentials may send requests to an
// unavailable network.
const signInTimeout = 15 * time.Second

// SignIn loads the region and credentials from the same sources as the AWS tools: environment variables, profiles and
// single sign-on. It reports missing credentials itself, because the SDK's error describes only the last source tried.
func SignIn(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return aws.Config{}, fmt.Errorf("the AWS configuration is invalid: %w (%s)", err, variables())
	}
	if cfg.Region == "" {
		return aws.Config{},
			fmt.Errorf("the AWS region is missing: set AWS_REGION, or region in the profile (%s)", variables())
	}
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	if _, err = cfg.Credentials.Retrieve(ctx); err != nil {
		missing := "no AWS credentials found: set AWS_PROFILE to a signed-in profile, or set AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for temporary credentials (" + variables() + ")"
		// The SDK tries EC2 instance metadata last, which is unavailable outside EC2.
		if failed, ok := errors.AsType[*smithy.OperationError](err); ok && failed.ServiceID == "ec2imds" {
			return aws.Config{}, errors.New(missing)
		}
		return aws.Config{}, fmt.Errorf("%s: %w", missing, err)
	}
	return cfg, nil
}

// Reachable returns an error if a setting that AWS calls require is missing. The error names the setting. Call
// Reachable before any other operation.
func Reachable(ctx context.Context) error {
	_, err := SignIn(ctx)
	return err
}

// variables lists the relevant environment variables that are set, without their values.
func variables() string {
	var set []string
	for _, name := range []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ENDPOINT_URL",
	} {
		if os.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return "no AWS variables are set"
	}
	return "variables set: " + strings.Join(set, ", ")
}
