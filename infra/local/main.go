// Command local runs the complete service on this machine. The command creates the resources of template.yaml in the
// embedded AWS, serves the API, runs the functions' real binaries, polls the queues, invokes the scheduled functions
// and serves a console. One loopback port serves everything except the URLs of files, which have a second port (package
// filehost). With -sam, the functions run in containers. The containers reach the same two ports at a different address
// of this machine (docs/adr/0016-sam-local-behind-our-gateway.md). The command contains no product-specific rules; all
// rules come from the template.
//
//	go run ./infra/local [-addr HOST:PORT] [-data DIR] [-faults SEED[:harsh]] [-run-file FILE] [-param Key=Value ...]
//	  [-sam [-container-host IP]] [-bin DIR] [-no-build] [-seed=false]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"recordbridge/infra/local/banner"
	"recordbridge/infra/local/build"
	"recordbridge/infra/local/runfile"
)

// Garbage collector settings: the GOGC percentage and the soft memory limit in bytes. With Go's default of 100, garbage
// collection took a tenth of the runner's CPU time in a burst of webhooks.
const (
	garbage     = 400
	garbageUpTo = 512 << 20
)

func main() {
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(garbageUpTo)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	o, err := parse(arguments, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	where, err := findPlace(ctx, o, stdout)
	if err != nil {
		return err
	}
	if o.build {
		if err = build.Functions(ctx, build.Options{
			Root: ".", Out: where.binaries, Progress: stdout,
			Platform: where.platform,
		}); err != nil {
			return err
		}
		if err = build.Pages(".", where.binaries, stdout); err != nil {
			return err
		}
	}
	s, err := start(ctx, o, where, log, &lines{to: stderr})
	if err != nil {
		return err
	}
	defer s.close(ctx)
	started := s.run
	if o.seed {
		if started, err = seeded(ctx, s, o, stdout); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		started.AWS, started.Stack, started.DashboardURL = s.run.AWS, s.run.Stack, s.run.DashboardURL
		started.Release = s.run.Release
	}
	if err = runfile.Write(o.runFile, started); err != nil {
		return err
	}
	filesAt := ""
	if !s.filesNamed() && where.engine == nil { // with containers, the API has a different host: localhost
		filesAt = s.filesURL
	}
	if err = banner.Print(stdout, o.runFile, started, filesAt); err != nil {
		return fmt.Errorf("print the ready message: %w", err)
	}
	<-ctx.Done()
	log.InfoContext(ctx, "stopping")
	return nil
}
