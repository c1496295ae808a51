// Command deploy builds and deploys an environment's stack (make deploy ENV=dev|staging|prod) with its parameters from
// samconfig.toml. The command prints the result and the next steps. With -rollback, it makes an earlier release live
// instead (make rollback). AWS_ENDPOINT_URL can direct the command, and the programs that it starts, to LocalStack.
//
// Before a deployment, the command uploads the widget's files to the stack's bucket. During the transition, both the
// old and the new version can then serve the files (docs/adr/0035-the-widget.md). The first deployment creates the
// bucket, so the command uploads the files afterwards.
//
// The command refuses to deploy uncommitted changes to production, and protects the staging and production stacks from
// deletion. After a deployment, it deletes the function versions of old releases.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"recordbridge/infra/ctl/target"
	"recordbridge/infra/deploy/published"
	"recordbridge/infra/deploy/revision"
	"recordbridge/infra/deploy/samconfig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], time.Now(), os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

type environment string

const (
	staging    environment = "staging"
	production environment = "prod"
)

// environments lists the environments that have parameters in samconfig.toml.
var environments = []environment{"dev", staging, production}

func run(ctx context.Context, args []string, now time.Time, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("deploy", flag.ContinueOnError)
	named := flags.String("env", "", "the `environment`: dev, staging or prod")
	own := flags.String("parameters", "", "`file` of lines NAME=VALUE that replace parameters in samconfig.toml")
	isRollback := flags.Bool("rollback", false, "make an earlier release live instead of deploying")
	to := flags.String("to", "", "the `release` to roll back to: its name, commit or version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	env := environment(*named)
	if !slices.Contains(environments, env) {
		return fmt.Errorf("which environment? There are %v: make deploy ENV=dev", environments)
	}
	config, err := os.ReadFile(samconfig.File)
	if err != nil {
		return err
	}
	stack := samconfig.Setting(string(config), string(env), "stack_name")
	if stack == "" {
		return fmt.Errorf("samconfig.toml has no stack_name for %s", env)
	}
	if *isRollback {
		return rollback(ctx, env, stack, *to, out)
	}
	return deploy(ctx, env, settings{config: string(config), own: *own}, now, in, out)
}

// settings holds the content of samconfig.toml, and the file with the operator's own parameters or "".
type settings struct{ config, own string }

// deploy builds the checkout and deploys it to the environment's stack.
func deploy(ctx context.Context, env environment, from settings, now time.Time, in io.Reader, out io.Writer) error {
	if err := ready(ctx, env); err != nil {
		return err
	}
	built, err := revision.Of(ctx, ".")
	if err != nil {
		return err
	}
	arguments, err := deployment(from, env, built.Name(now))
	if err != nil {
		return err
	}
	sam := func(arguments ...string) error {
		command := exec.CommandContext(ctx, "sam", arguments...) //nolint:gosec // the environment is one of three
		command.Stdin, command.Stdout, command.Stderr = in, out, out
		if failed := command.Run(); failed != nil {
			return fmt.Errorf("sam %s: %w; its output is above", arguments[0], failed)
		}
		return nil
	}
	if err = sam("build", "--config-env", string(env), "--build-in-source", "--parallel"); err != nil {
		return err
	}
	stack := samconfig.Setting(from.config, string(env), "stack_name")
	deployed, err := deliver(ctx, env, stack, func() error { return sam(arguments...) }, out)
	if err != nil {
		return err
	}
	report(out, stack, deployed)
	prune(ctx, stack, deployed, out)
	return nil
}

// prune deletes the function versions of old releases. A failure only prints a warning, because the deployment is
// complete and the next one repeats the deletion.
func prune(ctx context.Context, name string, deployed target.Stack, out io.Writer) {
	stack, err := published.Read(ctx, deployed.Config, time.Now, name)
	var deleted int
	if err == nil {
		deleted, err = stack.Prune(ctx)
	}
	if err != nil {
		fmt.Fprintf(out, "\nOld function versions remain, which count towards the account's limit of 75 GB: %v\n", err)
		return
	}
	fmt.Fprintf(out, "\nThe stack keeps %d releases for make rollback; %d old function versions were deleted.\n",
		len(stack.Releases()), deleted)
}

// deliver deploys the build and uploads the widget's files. It uploads the files first unless the deployment creates
// the bucket.
func deliver(ctx context.Context, env environment, stack string, deploy func() error,
	out io.Writer,
) (target.Stack, error) {
	widget := files{built: os.DirFS(builtPages), out: out}
	kept, err := widget.keepBefore(ctx, stack)
	if err != nil {
		return target.Stack{}, err
	}
	if err = deploy(); err != nil {
		return target.Stack{}, err
	}
	if env == staging || env == production {
		if err = target.Protect(ctx, stack); err != nil {
			return target.Stack{}, err
		}
		fmt.Fprintf(out, "\n%s is protected from deletion.\n", stack)
	}
	deployed, err := target.Named(ctx, stack)
	if err == nil && !kept {
		err = widget.keep(ctx, deployed)
	}
	return deployed, err
}

// deployment returns the arguments for sam deploy. Parameters on the command line replace all those in samconfig.toml,
// so the arguments repeat the file's parameters and add the operator's own and the release. The release makes
// deployments distinct even if only a parameter value changes (docs/adr/0019-aliases-and-the-front.md).
func deployment(from settings, env environment, release string) ([]string, error) {
	var values []byte
	if from.own != "" {
		var err error
		if values, err = os.ReadFile(from.own); err != nil {
			return nil, fmt.Errorf("-parameters: %w", err)
		}
	}
	parameters, err := samconfig.Parameters(from.config, string(env), string(values))
	if err != nil {
		return nil, fmt.Errorf("-parameters %s: %w", from.own, err)
	}
	arguments := []string{"deploy", "--config-env", string(env), "--no-fail-on-empty-changeset", "--parameter-overrides"}
	for _, p := range parameters {
		arguments = append(arguments, p.Argument())
	}
	return append(arguments, "Release="+release), nil
}

// ready checks the prerequisites of a deployment before the build starts.
func ready(ctx context.Context, env environment) error {
	if _, err := exec.LookPath("sam"); err != nil {
		return errors.New("the SAM CLI is missing: install aws-sam-cli " +
			"(https://docs.aws.amazon.com/serverless-application-model/), " +
			"and have sam in PATH")
	}
	if err := target.Reachable(ctx); err != nil {
		return err
	}
	if env != production {
		return nil
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	if err != nil {
		return fmt.Errorf("production deployments require a clean checkout, and git status fails: %w", err)
	}
	if len(changed) > 0 {
		return fmt.Errorf("production deployments require a clean checkout, and git status shows:\n%s", changed)
	}
	return nil
}

// report prints a summary of the deployment and the next steps.
func report(out io.Writer, name string, deployed target.Stack) {
	var text strings.Builder
	fmt.Fprintf(&text, "\nDeployed: %s\n\n", deployed.Name)
	for _, output := range slices.Sorted(maps.Keys(deployed.Outputs)) {
		fmt.Fprintf(&text, "  %-18s %s\n", output, deployed.Outputs[output])
	}
	fmt.Fprintf(&text, `
Next, in a new stack (docs/operate/ctl.md):

  make smoke STACK=%[1]s                                  # is it well?
  go run ./infra/ctl -stack %[1]s organisation create -name NAME
  go run ./infra/ctl -stack %[1]s credential create -org ID -mode test -redirect URI
  go run ./infra/ctl -stack %[1]s webhook create -org ID -mode test -url URL

The API is at %[2]s
`, name, deployed.Outputs["BaseUrl"])
	_, _ = io.WriteString(out, text.String())
}
