// Command localstack runs the complete service on LocalStack 4.14. The command starts LocalStack in a container (or
// with -command), and builds and deploys the unmodified template with the SAM CLI. The command then seeds the stack
// with sample data under the same rules that apply to an operator. The API and the webhook inbox have URLs that work
// both inside and outside containers. The command has the same output as make run. With -upgrade-from, the command
// first deploys the release in another folder, and upgrades that stack while an export is running and a delivery is
// pending.
//
//	go run ./infra/localstack [-addr HOST:PORT] [-aws HOST:PORT] [-source DIR] [-upgrade-from DIR] [-run-file FILE]
//	  [-container-host IP] [-command "PROGRAM ARGUMENT ..."]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"recordbridge/infra/deploy/revision"
	"recordbridge/infra/local/banner"
	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/runfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "localstack:", err)
		os.Exit(1)
	}
}

// run runs LocalStack and the deployed service until ctx is done. Only the run file and the logs remain after run
// returns.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(arguments, stderr)
	if err != nil {
		return err
	}
	if err = findPrograms(o); err != nil {
		return err
	}
	host, err := engine.Find(ctx, o.host, stdout)
	if err != nil {
		return err
	}
	front, err := newFront(ctx, o, host.Host)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, front.close()) }()
	began := time.Now()
	built, err := revision.Of(ctx, o.source)
	if err != nil {
		return err
	}
	o.release = built.Name(began)
	stack, err := startLocalStack(ctx, o, host, stdout)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, stack.stop(ctx, stdout)) }()
	fmt.Fprintf(stdout, "LocalStack is up after %s\n", time.Since(began).Round(time.Second))
	if o.previous != "" {
		return unlessStopped(ctx, upgrade(ctx, o, host, front, stdout))
	}
	_, started, err := deployAndSeed(ctx, o, host, front, stdout)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	fmt.Fprintf(stdout, "Deployed after %s\n", time.Since(began).Round(time.Second))
	if err = errors.Join(runfile.Write(o.runFile, started), banner.Print(stdout, o.runFile, started, "")); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-stack.ended:
		return errors.New("LocalStack has exited; see " + o.log("localstack"))
	}
	return nil
}

func deployAndSeed(ctx context.Context, o options, host *engine.Engine, f *front,
	progress io.Writer,
) (deployed, runfile.Run, error) {
	if err := build(ctx, o, host, progress); err != nil {
		return deployed{}, runfile.Run{}, err
	}
	if err := deploy(ctx, o, host, progress); err != nil {
		return deployed{}, runfile.Run{}, err
	}
	d, err := open(ctx, o, f)
	if err != nil {
		return deployed{}, runfile.Run{}, err
	}
	run, err := seedStack(ctx, o, f, d)
	return d, run, err
}

// unlessStopped returns err, or nil if the user stopped the program.
func unlessStopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}
