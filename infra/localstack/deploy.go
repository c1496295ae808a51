package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"recordbridge/infra/local/engine"
)

// stackName is that of the stack on LocalStack.
const stackName = "recordbridge"

// bucket is that of the functions that are deployed.
const bucket = "recordbridge-functions"

// desktopRange is where Docker Desktop has this machine, whatever address a container sees.
const desktopRange = "192.168.65.0/24"

// build builds the functions for the engine's architecture and takes them to LocalStack, so that a deployment has
// only the stack to change.
func build(ctx context.Context, o options, host *engine.Engine, progress io.Writer) error {
	fmt.Fprintln(progress, "Building")
	err := o.do(ctx, o.source, append(samVariables(), "LAMBDA_GOARCH="+host.Architecture),
		"sam", "build", "--build-in-source", "--parallel", "--build-dir", o.built())
	if err == nil {
		err = makeBucket(ctx, o)
	}
	if err != nil {
		return err
	}
	return o.do(ctx, o.source, o.toLocalStack(), "sam", "package", "--template-file",
		filepath.Join(o.built(), "template.yaml"), "--no-progressbar",
		"--s3-bucket", bucket, "--output-template-file", o.packaged())
}

// built is the folder of what this run builds, since others may build beside it. The SAM CLI keeps
// notes in the folder above.
func (o options) built() string {
	return filepath.Join(strings.TrimSuffix(o.runFile, ".json")+".sam", "build")
}

// packaged is the file of the template that says where the functions are in the bucket.
func (o options) packaged() string { return o.built() + ".yaml" }

// makeBucket makes the one that the functions are deployed from. The SAM CLI would make it by a stack of its own, and
// wait for that 15 seconds.
func makeBucket(ctx context.Context, o options) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+o.aws+"/"+bucket, http.NoBody)
	if err != nil {
		return fmt.Errorf("create the functions' bucket: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("create the functions' bucket: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("create the functions' bucket: LocalStack returned %s", response.Status)
	}
	return errors.Join(err, response.Body.Close())
}

// deploy deploys what was built with the template, as it would be deployed on AWS. It updates a stack that is there.
func deploy(ctx context.Context, o options, host *engine.Engine, progress io.Writer) error {
	fmt.Fprintln(progress, "Deploying")
	return o.do(ctx, o.source, o.toLocalStack(), "sam", "deploy", "--template-file", o.packaged(), "--stack-name",
		stackName, "--s3-bucket", bucket,
		"--capabilities", "CAPABILITY_IAM", "--no-progressbar", "--no-confirm-changeset", "--no-fail-on-empty-changeset",
		"--parameter-overrides", o.parameters(host))
}

func samVariables() []string { return []string{"SAM_CLI_TELEMETRY=0", "AWS_DEFAULT_REGION=" + region} }

// toLocalStack are the variables that lead the SAM CLI there, and have it look for the end of a
// deployment every second.
func (o options) toLocalStack() []string {
	return append(samVariables(), "SAM_CLI_POLL_DELAY=1", "AWS_ENDPOINT_URL=http://"+o.aws, "AWS_ACCESS_KEY_ID="+accessKey,
		"AWS_SECRET_ACCESS_KEY="+accessKey)
}

// parameters make the template's stack one of this machine.
func (o options) parameters(host *engine.Engine) string {
	// portals, webhooks and the sandbox are on this machine
	ranges := []string{"127.0.0.0/8", "::1/128", host.Host.String() + "/32", desktopRange}
	return strings.Join([]string{
		"PublicBaseUrl=" + o.publicURL() + "/" + stage, "EnableSandbox=true", "MailFrom=notices@localhost.example",
		"SupportMail=support@localhost.example",
		"AllowedPrivateRanges=" + strings.Join(ranges, ","), "EndpointProbes=private",
		"Release=" + cmp.Or(o.release, "release000"),
	}, " ")
}
