package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"recordbridge/infra/local/engine"
)

const stackName = "recordbridge"

const bucket = "recordbridge-functions"

// desktopRange is the address range that contains this machine's addresses under Docker Desktop. Containers may see
// this machine at an address other than the detected one.
const desktopRange = "192.168.65.0/24"

// build builds the functions for the engine's architecture and uploads them to LocalStack, so that a deployment only
// has to change the stack.
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

// built returns the build directory of this run. Each run has its own build directory, because runs may build
// concurrently. The SAM CLI stores its data in the parent directory.
func (o options) built() string {
	return filepath.Join(strings.TrimSuffix(o.runFile, ".json")+".sam", "build")
}

// packaged returns the path of the template that refers to the uploaded functions.
func (o options) packaged() string { return o.built() + ".yaml" }

// makeBucket creates the bucket that stores the functions' deployment packages. The SAM CLI would create the bucket in
// a separate stack and wait 15 seconds for it.
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

// deploy deploys the packaged template with the SAM CLI, as on AWS. If the stack exists, deploy updates it.
func deploy(ctx context.Context, o options, host *engine.Engine, progress io.Writer) error {
	fmt.Fprintln(progress, "Deploying")
	return o.do(ctx, o.source, o.toLocalStack(), "sam", "deploy", "--template-file", o.packaged(), "--stack-name",
		stackName, "--s3-bucket", bucket,
		"--capabilities", "CAPABILITY_IAM", "--no-progressbar", "--no-confirm-changeset", "--no-fail-on-empty-changeset",
		"--parameter-overrides", o.parameters(host))
}

func samVariables() []string { return []string{"SAM_CLI_TELEMETRY=0", "AWS_DEFAULT_REGION=" + region} }

// toLocalStack returns the environment variables that direct the SAM CLI to LocalStack and make it poll deployments
// every second.
func (o options) toLocalStack() []string {
	return append(samVariables(), "SAM_CLI_POLL_DELAY=1", "AWS_ENDPOINT_URL=http://"+o.aws, "AWS_ACCESS_KEY_ID="+accessKey,
		"AWS_SECRET_ACCESS_KEY="+accessKey)
}

func (o options) parameters(host *engine.Engine) string {
	// functions may call portals, webhooks and the sandbox on this machine
	ranges := []string{"127.0.0.0/8", "::1/128", host.Host.String() + "/32", desktopRange}
	return strings.Join([]string{
		"PublicBaseUrl=" + o.publicURL() + "/" + stage, "EnableSandbox=true", "MailFrom=notices@localhost.example",
		"SupportMail=support@localhost.example",
		"AllowedPrivateRanges=" + strings.Join(ranges, ","), "EndpointProbes=private",
		"Release=" + o.release,
	}, " ")
}
