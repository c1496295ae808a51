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

// signInTimeout limits the search for credentials, which may query an unreachable network.
const signInTimeout = 15 * time.Second

// signedIn finds the region and credentials as AWS's own programs do: variables, profiles, single sign-on. It reports
// missing ones itself, since the SDK's error about the last source it tried is not helpful.
func signedIn(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return aws.Config{}, fmt.Errorf("the AWS configuration cannot be used: %w (%s)", err, variables())
	}
	if cfg.Region == "" {
		return aws.Config{},
			fmt.Errorf("the AWS region is missing: set AWS_REGION, or region in the profile (%s)", variables())
	}
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	if _, err = cfg.Credentials.Retrieve(ctx); err != nil {
		missing := "no AWS credentials were found: set AWS_PROFILE to a profile that is signed in, or both " +
			"AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where they are temporary (" + variables() + ")"
		// The last source is the metadata service of a virtual machine, which this machine may not be.
		if failed, ok := errors.AsType[*smithy.OperationError](err); ok && failed.ServiceID == "ec2imds" {
			return aws.Config{}, errors.New(missing)
		}
		return aws.Config{}, fmt.Errorf("%s: %w", missing, err)
	}
	return cfg, nil
}

// Reachable returns an error that names what is missing to call AWS with credentials. Call it before any other
// operation.
func Reachable(ctx context.Context) error {
	_, err := signedIn(ctx)
	return err
}

// variables reports which of the relevant environment variables are set, without their values.
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
		return "no variable for it is set"
	}
	return "set are " + strings.Join(set, ", ")
}
