package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"recordbridge/infra/local/engine"
)

// stackName is that of the stack on LocalStack.
const stackName = "recordbridge"

// desktopRange is where Docker Desktop has this machine, whatever address a container sees.
const desktopRange = "192.168.65.0/24"

// build builds the functions for the engine's architecture.
func build(ctx context.Context, o options, host *engine.Engine, progress io.Writer) error {
	fmt.Fprintln(progress, "Building")
	return o.do(ctx, o.source, append(samVariables(), "LAMBDA_GOARCH="+host.Architecture), "sam", "build", "--build-in-source", "--parallel")
}

// deploy deploys what was built with the template, as it would be deployed on AWS. It updates a stack that is there.
func deploy(ctx context.Context, o options, host *engine.Engine, progress io.Writer) error {
	fmt.Fprintln(progress, "Deploying")
	variables := append(samVariables(), "AWS_ENDPOINT_URL=http://"+o.aws, "AWS_ACCESS_KEY_ID="+accessKey, "AWS_SECRET_ACCESS_KEY="+accessKey)
	return o.do(ctx, o.source, variables,
		"sam", "deploy", "--stack-name", stackName, "--resolve-s3", "--capabilities", "CAPABILITY_IAM", "--no-progressbar",
		"--no-confirm-changeset", "--no-fail-on-empty-changeset", "--parameter-overrides", o.parameters(host))
}

func samVariables() []string { return []string{"SAM_CLI_TELEMETRY=0", "AWS_DEFAULT_REGION=" + region} }

// parameters make the template's stack one of this machine.
func (o options) parameters(host *engine.Engine) string {
	ranges := []string{"127.0.0.0/8", "::1/128", host.Host.String() + "/32", desktopRange} // portals, webhooks and the sandbox are on this machine
	return strings.Join([]string{
		"PublicBaseUrl=" + o.publicURL() + "/" + stage, "EnableSandbox=true", "MailFrom=notices@localhost.example",
		"AllowedPrivateRanges=" + strings.Join(ranges, ","),
	}, " ")
}
