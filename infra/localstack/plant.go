package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/shared/ids"
)

// plant gives the deployed stack what a person needs for trying things out, through the rules of an operator, and opens the front.
func plant(ctx context.Context, o options, f *front) (runfile.Run, error) {
	endpoint := "http://" + o.aws
	cfg := aws.Config{
		Region: region, BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider(accessKey, accessKey, ""),
	}
	outputs, err := cloudformation.Outputs(ctx, cfg, time.Now, stackName)
	if err != nil {
		return runfile.Run{}, fmt.Errorf("read the outputs of the stack: %w", err)
	}
	api, err := cloudformation.PhysicalID(ctx, cfg, time.Now, stackName, "Api")
	if err != nil {
		return runfile.Run{}, fmt.Errorf("find the API of the stack: %w", err)
	}
	f.serveAPI(api)
	operator, err := wiring.Open(ctx, cfg, outputs, wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "local-stack"})
	if err != nil {
		return runfile.Run{}, err
	}
	run, err := seed.Apply(ctx, operator, seed.Options{
		BaseURL: o.publicURL() + "/" + stage, ReturnURL: o.publicURL() + returnPath, InboxURL: o.publicURL() + inboxPath,
	})
	if err != nil {
		return runfile.Run{}, err
	}
	for _, organisation := range run.Organisations {
		if organisation.WebhookURL != "" {
			f.inbox.Expect(path.Base(organisation.WebhookURL), organisation.WebhookSecret)
		}
	}
	run.Stack = runfile.LocalStack
	run.AWS = runfile.AWS{EndpointURL: endpoint, Region: region, AccessKeyID: accessKey, SecretAccessKey: accessKey, Outputs: outputs}
	return run, nil
}
