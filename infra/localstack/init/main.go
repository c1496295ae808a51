// Command init is what LocalStack 4.14 starts in the container of a function whose runtime is provided.al2023: it runs
// /var/task/bootstrap, serves it the Lambda Runtime API, and tells LocalStack what came of each invocation.
// LocalStack's own is downloaded from a place that CI does not reach; nothing but CI uses this one. It has one
// invocation at a time, no extensions, no streaming and no telemetry.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"recordbridge/shared/platform/config"
)

const (
	taskFolder = "/var/task"
	// invocationAddress is where LocalStack sends invocations.
	invocationAddress = ":9563"
)

// settings is what LocalStack sets in the container.
type settings struct {
	Endpoint string `env:"LOCALSTACK_RUNTIME_ENDPOINT,required"` // what came of an invocation is posted there
	ID       string `env:"LOCALSTACK_RUNTIME_ID,required"`       // of this container
	Timeout  int    `env:"AWS_LAMBDA_FUNCTION_TIMEOUT,required"` // seconds
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s, err := config.Load[settings]()
	if err != nil {
		return err
	}
	e, err := newEnvironment(options{
		reports: reports{to: s.Endpoint, id: s.ID}, limit: time.Duration(s.Timeout) * time.Second, now: time.Now,
		folder: taskFolder, variables: forFunctions(os.Environ()),
	})
	if err != nil {
		return err
	}
	server := &http.Server{Addr: invocationAddress, Handler: e, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	defer func() { _ = server.Close() }()
	ended := make(chan error, 1)
	go func() { ended <- e.run(ctx) }()
	select {
	case err = <-failed:
	case err = <-ended:
	}
	return err
}

// forFunctions are the variables that a function sees: all but those between LocalStack and this program.
func forFunctions(all []string) []string {
	var kept []string
	for _, v := range all {
		if !strings.HasPrefix(v, "LOCALSTACK_") {
			kept = append(kept, v)
		}
	}
	return kept
}
