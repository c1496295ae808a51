// Command smoke checks a running stack from outside (package check). It is safe to run on a stack that serves patients:
//
//	smoke -base-url https://api.example.org/v1 -stack recordbridge   # creates an organisation, and deletes it
//	smoke -base-url https://api.example.org/v1                       # as the organisation of SMOKE_PUBLIC_ID
//	smoke                                                            # the stack that make run has started
//
// The command reads a credential from SMOKE_PUBLIC_ID, SMOKE_PRIVATE_KEY and SMOKE_REDIRECT_URI. It reads the webhook's
// secret from SMOKE_WEBHOOK_SECRET. Secrets are not accepted as flags, because the machine's other users could read
// them. The exit code is 0 on success, 1 if a step failed, and 2 if the run was rejected before the first step.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"recordbridge/infra/ctl/target"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/smoke/check"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "smoke:", err)
	}
	os.Exit(exitCode(err))
}

// unusableError means that the run was rejected before its first step.
type unusableError struct{ cause error }

func (u *unusableError) Error() string { return u.cause.Error() }

func (u *unusableError) Unwrap() error { return u.cause }

func exitCode(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if _, ok := errors.AsType[*unusableError](err); ok || errors.Is(err, check.ErrRefused) {
		return 2
	}
	return 1
}

// requestTimeout limits the duration of a request. The limit allows for two cold starts: one of the container called
// and one of a container that it calls.
const requestTimeout = 40 * time.Second

type wanted struct {
	baseURL, stack, outputs, inbox, endpoint string
	credential                               runfile.Organisation
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	w := wanted{credential: runfile.Organisation{
		PublicID: getenv("SMOKE_PUBLIC_ID"), PrivateKey: getenv("SMOKE_PRIVATE_KEY"),
		RedirectURI:   getenv("SMOKE_REDIRECT_URI"),
		WebhookSecret: getenv("SMOKE_WEBHOOK_SECRET"),
	}}
	flags := flag.NewFlagSet("smoke", flag.ContinueOnError)
	flags.StringVar(&w.baseURL, "base-url", "", "API base `URL`, which ends in /v1 (default: the stack's)")
	flags.StringVar(&w.stack, "stack", "", "`name` of the stack on AWS, for operator checks")
	flags.StringVar(&w.outputs, "outputs", "", "`file` with the stack's outputs or written by make run, for operator "+
		"checks")
	flags.StringVar(&w.endpoint, "endpoint", "", "test mode endpoint `id` (default: the sandbox's)")
	flags.StringVar(&w.inbox, "inbox", "",
		"`URL` that receives webhooks like the inbox of make run (default: the stack's, if it has one)")
	if err := flags.Parse(args); err != nil {
		return &unusableError{err}
	}
	o, name, err := w.options(ctx)
	if err != nil {
		return &unusableError{err}
	}
	fmt.Fprintf(out, "smoke: %s (%s)\n", o.BaseURL, name)
	o.Now, o.Out = time.Now, out
	o.HTTP = &http.Client{
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return check.Run(ctx, o)
}

const localRun = ".local/run.json"

func (w wanted) options(ctx context.Context) (check.Options, string, error) {
	o := check.Options{
		BaseURL: strings.TrimRight(w.baseURL, "/"), Credential: w.credential, EndpointID: w.endpoint,
		InboxURL: w.inbox,
	}
	if o.Credential.PublicID != "" && (o.Credential.PrivateKey == "" || o.Credential.RedirectURI == "") {
		return o, "", errors.New("SMOKE_PUBLIC_ID needs SMOKE_PRIVATE_KEY and SMOKE_REDIRECT_URI, too")
	}
	var stack target.Stack
	var err error
	switch {
	case w.stack != "":
		stack, err = target.Named(ctx, w.stack)
	case w.outputs != "":
		stack, err = target.FromFile(ctx, w.outputs)
	case o.BaseURL != "" && o.Credential.PublicID != "":
		return o, "by its URL only", checkAddress(o.BaseURL)
	default:
		stack, err = w.running(ctx)
	}
	if err != nil {
		return o, "", err
	}
	o.BaseURL = cmp.Or(o.BaseURL, stack.Run.BaseURL, strings.TrimRight(stack.Outputs["BaseUrl"], "/"))
	o.InboxURL = cmp.Or(o.InboxURL, stack.Run.InboxURL)
	if err = checkAddress(o.BaseURL); err != nil {
		return o, "", err
	}
	o.Rules, err = stack.Open(ctx, "smoke")
	return o, stack.Name, err
}

func checkAddress(baseURL string) error {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return fmt.Errorf("the base URL %q is not a URL like https://api.example.org/v1", baseURL)
	}
	return nil
}

// running returns the stack that make run started, or an error if the base URL selects a different stack.
func (w wanted) running(ctx context.Context) (target.Stack, error) {
	const advice = "name the stack (-stack, make smoke STACK=…), or set a test mode credential (SMOKE_PUBLIC_ID, " +
		"SMOKE_PRIVATE_KEY, SMOKE_REDIRECT_URI)"
	if _, err := os.Stat(localRun); err != nil {
		return target.Stack{}, fmt.Errorf("there is no local run here (%s, which make run writes): %s", localRun, advice)
	}
	stack, err := target.FromFile(ctx, localRun)
	if err == nil && w.baseURL != "" && w.baseURL != stack.Run.BaseURL {
		err = fmt.Errorf("the local run is at %s, not at %s: %s", stack.Run.BaseURL, w.baseURL, advice)
	}
	return stack, err
}
