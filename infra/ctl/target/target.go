// Package target finds a stack that runs somewhere, and the way in: on AWS by its name, or by a file with its outputs,
// which .local/run.json is, too. It owns what is said when neither leads to one. The operator's command line and the
// checks of running stacks use it; no Lambda links it.
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

// Stack is one that was found.
type Stack struct {
	Name    string // which one it is, for a person
	Config  aws.Config
	Outputs map[string]string
	Run     runfile.Run // what the file says besides, when it is a run file
}

// Options are what an operator at this machine takes from its surroundings. Actor is who the audit rows name.
func (s Stack) Options(actor string) wiring.Options {
	return wiring.Options{
		Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: actor,
		HTTP: safehttp.New(safehttp.Options{Allow: wiring.PrivateRanges(s.Outputs)}),
	}
}

// Open opens the operator's rules on the stack.
func (s Stack) Open(ctx context.Context, actor string) (*wiring.Operator, error) {
	return wiring.Open(ctx, s.Config, s.Outputs, s.Options(actor))
}

// Named is a stack on AWS, by its name or ARN, or on what AWS_ENDPOINT_URL stands in for it.
func Named(ctx context.Context, name string) (Stack, error) {
	cfg, err := signedIn(ctx)
	if err != nil {
		return Stack{}, err
	}
	outputs, err := cloudformation.Outputs(ctx, cfg, time.Now, name)
	if err != nil {
		return Stack{}, fmt.Errorf("-stack %s in %s: %w", name, cfg.Region, err)
	}
	return Stack{Name: "stack " + name + " in " + cfg.Region, Config: cfg, Outputs: outputs}, nil
}

// Protect has CloudFormation refuse to delete a stack until the protection is taken back by hand.
func Protect(ctx context.Context, name string) error {
	cfg, err := signedIn(ctx)
	if err != nil {
		return err
	}
	if err := cloudformation.Protect(ctx, cfg, time.Now, name); err != nil {
		return fmt.Errorf("protect stack %s in %s from deletion: %w", name, cfg.Region, err)
	}
	return nil
}

// Filed is the stack of a file: what make run writes holds outputs and a way in, which goes before the environment's.
func Filed(ctx context.Context, file string) (Stack, error) {
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
		}, answers(ctx, file, here.EndpointURL)
	}
	outputs, err := readOutputs(body)
	if err != nil {
		return Stack{}, fmt.Errorf("-outputs: %s has no outputs: %w", file, err)
	}
	cfg, err := signedIn(ctx)
	return Stack{Name: "stack of " + file + " in " + cfg.Region, Config: cfg, Outputs: outputs}, err
}

// answerTimeout bounds how long a local run may take to be there.
const answerTimeout = 2 * time.Second

// answers wants the local run that a file tells of to be there still.
func answers(ctx context.Context, file, address string) error {
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

// readOutputs reads the outputs of a stack as CloudFormation lists them, or as one JSON object.
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
