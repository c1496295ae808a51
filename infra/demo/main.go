// Command demo performs the service's main job against a running stack or, with -own, against a stack that it starts.
// The demo connects a synthetic patient, requests the export, waits for the webhook, verifies the webhook's signature
// with the official library and downloads the file. The demo prints the stack's name and fails if the name differs from
// the required name. Like a customer's program, the demo uses only the public API and .local/run.json.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"recordbridge/infra/demo/job"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// maxTime limits the demo's duration.
const maxTime = 2 * time.Minute

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	var w wanted
	flags.StringVar(&w.runFile, "run-file", ".local/run.json", "run file written by make run or make local-sam")
	flags.StringVar(&w.name, "stack", "", `required stack, such as "sam local" (default: any)`)
	flags.BoolVar(&w.own, "own", false, "start a separate stack for this run, even if one is already running")
	flags.StringVar(&w.runner, "runner", "build/local", "runner program for -own")
	persona := flags.String("persona", "", "persona whose record is exported (default: the sandbox's third)")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("command line: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	began := time.Now()
	stack, stop, err := find(ctx, w, out)
	if err != nil {
		return err
	}
	defer stop()
	j, err := job.New(stack, *persona, out)
	if err != nil {
		return err
	}
	if err = j.Perform(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nDone in %s.\n", time.Since(began).Round(time.Millisecond))
	return err
}
