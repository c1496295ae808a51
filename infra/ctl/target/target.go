// Package target locates a running stack and the credentials for it. The package finds a stack on AWS by name, or reads
// a stack's outputs from a file such as .local/run.json. The package also defines the errors for stacks that can't be
// found. Both ctl and the checks of running stacks use this package. No Lambda function links the package.
package target

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/ids"
)

// Stack describes a stack and how to access it.
type Stack struct {
	Name    string // display name
	Config  aws.Config
	Outputs map[string]string
	Run     runfile.Run // rest of the outputs file's content, if it is a run file
}

// Options returns the options for an operator on this machine. Audit rows record the given actor.
func (s Stack) Options(actor string) wiring.Options {
	return wiring.Options{
		Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: actor,
		HTTP: safehttp.New(safehttp.Options{Allow: wiring.PrivateRanges(s.Outputs)}),
	}
}

// Open returns an Operator for the stack. Audit rows record the given actor.
func (s Stack) Open(ctx context.Context, actor string) (*wiring.Operator, error) {
	return wiring.Open(ctx, s.Config, s.Outputs, s.Options(actor))
}

// Named returns the stack with the given name or ARN. If AWS_ENDPOINT_URL is set, Named looks for the stack there
// instead of on AWS.
func Named(ctx context.Context, name string) (Stack, error) {
	cfg, err := SignIn(ctx)
	if err != nil {
		return Stack{}, err
	}
	outputs, err := cloudformation.Outputs(ctx, cfg, time.Now, name)
	if err != nil {
		return Stack{}, fmt.Errorf("-stack %s in %s: %w", name, cfg.Region, err)
	}
	return Stack{Name: "stack " + name + " in " + cfg.Region, Config: cfg, Outputs: outputs}, nil
}

// Protect enables the stack's termination protection, so that CloudFormation rejects its deletion until an operator
// disables the protection.
func Protect(ctx context.Context, name string) error {
	cfg, err := SignIn(ctx)
	if err != nil {
		return err
	}
	if err := cloudformation.Protect(ctx, cfg, time.Now, name); err != nil {
		return fmt.Errorf("protect stack %s in %s from deletion: %w", name, cfg.Region, err)
	}
	return nil
}

// FromFile returns the stack that a file describes. If make run wrote the file, its outputs and credentials take
// precedence over the environment.
func FromFile(ctx context.Context, file string) (Stack, error) {
	body, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return Stack{}, fmt.Errorf("-outputs: %w", err)
	}
	var run runfile.Run
	if here := &run.AWS; json.Unmarshal(body, &run) == nil && here.EndpointURL != "" {
		return Stack{
			Name:    run.Stack + " at " + here.EndpointURL + " (" + file + ")",
			Outputs: here.Outputs, Run: run,
			Config: aws.Config{
				Region: here.Region, BaseEndpoint: &here.EndpointURL,
				Credentials:                credentials.NewStaticCredentialsProvider(here.AccessKeyID, here.SecretAccessKey, ""),
				RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
				ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
			},
		}, checkRunning(ctx, file, here.EndpointURL)
	}
	outputs, err := readOutputs(body)
	if err != nil {
		return Stack{}, fmt.Errorf("-outputs: %s has no outputs: %w", file, err)
	}
	cfg, err := SignIn(ctx)
	return Stack{Name: "stack of " + file + " in " + cfg.Region, Config: cfg, Outputs: outputs}, err
}

// answerTimeout limits how long a local run may take to respond.
const answerTimeout = 2 * time.Second

// checkRunning checks that the local stack described in file still responds.
func checkRunning(ctx context.Context, file, address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("-outputs: the endpoint_url of %s is not valid: %w", file, err)
	}
	connection, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return fmt.Errorf("the local run of %s no longer responds at %s: start it again with make run, or use -stack "+
			"or -outputs", file, address)
	}
	return connection.Close()
}

// readOutputs parses a stack's outputs, which are a CloudFormation list or a JSON object.
func readOutputs(body []byte) (map[string]string, error) {
	outputs := map[string]string{}
	if json.Unmarshal(body, &outputs) == nil {
		return outputs, nil
	}
	var list []struct {
		OutputKey   string
		OutputValue string
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for _, entry := range list {
		outputs[entry.OutputKey] = entry.OutputValue
	}
	return outputs, nil
}
