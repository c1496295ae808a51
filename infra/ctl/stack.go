package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/shared/ids"
	"recordbridge/shared/operator"
	"recordbridge/shared/safehttp"
)

// localRun is what make run writes of itself, in the repository's folder.
const localRun = ".local/run.json"

// where says which stack is meant: one on AWS by its name, one by a file, or with neither that of make run.
type where struct{ stack, outputs string }

// found is a stack, and a way in.
type found struct {
	name    string
	config  aws.Config
	outputs map[string]string
}

// session is what a command works with: the rules, opened on a stack.
type session struct {
	*operator.Operator // nil until the stack is open
	streams

	at    where
	stack found
}

// open opens the stack that is meant, and says which one that is.
func (s session) open(ctx context.Context) (session, error) {
	stack, err := s.at.find(ctx)
	if err != nil {
		return session{}, err
	}
	fmt.Fprintln(s.said, "ctl: "+stack.name)
	s.stack = stack
	s.Operator, err = wiring.Open(ctx, stack.config, stack.outputs, stack.options())
	return s, err
}

// options are what an operator at this machine takes from its surroundings.
func (f found) options() wiring.Options {
	return wiring.Options{
		Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "operator",
		HTTP: safehttp.New(safehttp.Options{Allow: wiring.PrivateRanges(f.outputs)}),
	}
}

func (w where) find(ctx context.Context) (found, error) {
	switch {
	case w.stack != "":
		return named(ctx, w.stack)
	case w.outputs != "":
		return filed(ctx, w.outputs)
	}
	_, err := os.Stat(localRun)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, misused("which stack? There is no local run here (%s, which make run writes). Start one with make run, "+
			"or name a stack: -stack NAME, or -outputs FILE", localRun)
	}
	return filed(ctx, localRun)
}

// named is a stack on AWS, by its name or ARN.
func named(ctx context.Context, name string) (found, error) {
	cfg, err := signedIn(ctx)
	if err != nil {
		return found{}, err
	}
	outputs, err := cloudformation.Outputs(ctx, cfg, time.Now, name)
	if err != nil {
		return found{}, fmt.Errorf("-stack %s in %s: %w", name, cfg.Region, err)
	}
	return found{name: "stack " + name + " in " + cfg.Region, config: cfg, outputs: outputs}, nil
}

// filed is the stack of a file: what make run writes holds outputs and a way in, which goes before the environment's.
func filed(ctx context.Context, file string) (found, error) {
	body, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return found{}, fmt.Errorf("-outputs: %w", err)
	}
	var run runfile.Run
	if here := &run.AWS; json.Unmarshal(body, &run) == nil && here.EndpointURL != "" {
		return found{
			name:    "local run at " + here.EndpointURL + " (" + file + ")",
			outputs: here.Outputs,
			config: aws.Config{
				Region: here.Region, BaseEndpoint: &here.EndpointURL,
				Credentials: credentials.NewStaticCredentialsProvider(here.AccessKeyID, here.SecretAccessKey, ""),
			},
		}, answers(ctx, file, here.EndpointURL)
	}
	outputs, err := readOutputs(body)
	if err != nil {
		return found{}, fmt.Errorf("-outputs: %s holds no outputs: %w", file, err)
	}
	cfg, err := signedIn(ctx)
	return found{name: "stack of " + file + " in " + cfg.Region, config: cfg, outputs: outputs}, err
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
		return fmt.Errorf("the local run of %s no longer answers at %s: start it again with make run, or name another stack with "+
			"-stack or -outputs", file, address)
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
