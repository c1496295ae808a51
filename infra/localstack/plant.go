package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/ctl/cloudformation"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/shared/words/ids"
)

type deployed struct {
	*wiring.Operator

	config  aws.Config
	outputs map[string]string
}

// open opens the deployed stack with an operator's access, and makes its API available through the front server.
func open(ctx context.Context, o options, f *front) (deployed, error) {
	endpoint := "http://" + o.aws
	d := deployed{config: aws.Config{
		Region: region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, accessKey, ""),
	}}
	var err error
	if d.outputs, err = cloudformation.Outputs(ctx, d.config, time.Now, stackName); err != nil {
		return deployed{}, fmt.Errorf("read the outputs of the stack: %w", err)
	}
	api, err := cloudformation.PhysicalID(ctx, d.config, time.Now, stackName, "Api")
	if err != nil {
		return deployed{}, fmt.Errorf("find the API of the stack: %w", err)
	}
	f.serveAPI(api)
	d.Operator, err = wiring.Open(ctx, d.config, d.outputs,
		wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "local-stack"})
	return d, err
}

// seedStack seeds the stack with sample data under the same rules that apply to an operator.
func seedStack(ctx context.Context, o options, f *front, d deployed) (runfile.Run, error) {
	run, err := seed.Apply(ctx, d.Operator, seed.Options{
		BaseURL: o.publicURL() + "/" + stage, ReturnURL: o.receiverURL() + returnPath, InboxURL: o.receiverURL() + inboxPath,
		Catalog: shipped.Sandbox,
	})
	if err != nil {
		return runfile.Run{}, err
	}
	for _, organisation := range run.Organisations {
		if organisation.WebhookURL != "" {
			f.inbox.Expect(path.Base(organisation.WebhookURL), organisation.WebhookSecret)
		}
	}
	run.Stack, run.Release, run.DashboardURL = runfile.LocalStack, o.release, run.BaseURL+"/dashboard"
	run.AWS = runfile.AWS{
		EndpointURL: "http://" + o.aws, Region: region, AccessKeyID: accessKey,
		SecretAccessKey: accessKey, Outputs: d.outputs,
	}
	return run, nil
}
