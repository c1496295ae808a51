// Command recordbridge helps developers who integrate with the service. It needs no AWS access. The commands for
// webhooks need a test-mode key pair (docs/guide/localhost.md).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := tool{
		out: os.Stdout, getenv: os.Getenv, now: time.Now,
		wait: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
		client: &http.Client{Timeout: requestTimeout},
	}.run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "recordbridge:", err)
		os.Exit(1)
	}
}

// requestTimeout equals the time in which a webhook must respond (docs/guide/webhooks.md, "Retries").
const requestTimeout = 30 * time.Second

// tool holds a command's environment.
type tool struct {
	out    io.Writer
	getenv func(name string) string
	now    func() time.Time
	wait   func(ctx context.Context, d time.Duration) error
	client *http.Client
}

const usage = `usage: recordbridge COMMAND [flags]

  listen    sends the webhook events of test mode to a URL on this machine
  trigger   sends an example event to the URL
  replay    sends an earlier event to the URL again
  view      shows an exported record in your browser; needs no key
  verify    verifies an export's manifest and files; needs no key
  tables    writes CSV or Parquet tables from an exported record; needs no key

Each command explains its flags with -h. The key pair comes from the file .local/run.json of make run, or from the
variables RECORDBRIDGE_URL (such as https://api.example.com/v1), RECORDBRIDGE_PUBLIC_ID and RECORDBRIDGE_PRIVATE_KEY.`

func (t tool) run(ctx context.Context, args []string) error {
	if len(args) == 0 || strings.TrimLeft(args[0], "-") == "help" || args[0] == "-h" {
		fmt.Fprintln(t.out, usage)
		return nil
	}
	commands := map[string]func(ctx context.Context, flags *flag.FlagSet, args []string) error{
		"listen": t.listen, "trigger": t.trigger, "replay": t.replay,
		"view": t.view, "verify": t.verify, "tables": t.tables,
	}
	command, ok := commands[args[0]]
	if !ok {
		return fmt.Errorf("unknown command %q\n\n%s", args[0], usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(t.out)
	return command(ctx, flags, args[1:])
}
