// Command init is the program that LocalStack 4.14 starts in a function's container if the runtime is provided.al2023.
// The command runs /var/task/bootstrap, serves the Lambda Runtime API to the function, and reports the result of each
// invocation to LocalStack. Only CI uses the command, because CI can't reach the server from which LocalStack downloads
// its own program. The command handles one invocation at a time and does not support extensions, streaming or
// telemetry.
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
	// invocationAddress is the address to which LocalStack sends invocations.
	invocationAddress = ":9563"
)

type settings struct {
	Endpoint string `env:"LOCALSTACK_RUNTIME_ENDPOINT,required"` // base URL for posting the results of invocations
	ID       string `env:"LOCALSTACK_RUNTIME_ID,required"`
	Timeout  int    `env:"AWS_LAMBDA_FUNCTION_TIMEOUT,required"` // in seconds
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

// forFunctions returns the environment variables in all, except those that LocalStack sets for this program.
func forFunctions(all []string) []string {
	var kept []string
	for _, v := range all {
		if !strings.HasPrefix(v, "LOCALSTACK_") {
			kept = append(kept, v)
		}
	}
	return kept
}
