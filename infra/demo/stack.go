package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"recordbridge/infra/local/runfile"
)

// wanted specifies the stack that the demo uses.
type wanted struct {
	runFile string // run file of a running stack
	name    string // name that the stack must have; "" accepts any
	own     bool   // true if the demo uses the runner to start a separate stack
	runner  string
}

// find returns the selected stack and prints its name. If find started the stack, stop ends it.
func find(ctx context.Context, w wanted, out io.Writer) (stack runfile.Run, stop func(), err error) {
	stop = func() {}
	if w.own {
		stack, stop, err = begin(ctx, w.runner, out)
	} else {
		stack, err = running(ctx, w.runFile)
	}
	if err != nil {
		return runfile.Run{}, nil, err
	}
	if w.name != "" && stack.Stack != w.name {
		stop()
		return runfile.Run{}, nil, fmt.Errorf("the stack at %s is %q, not %q", stack.BaseURL, stack.Stack, w.name)
	}
	fmt.Fprintf(out, "The stack is %q at %s\n", stack.Stack, stack.BaseURL)
	return stack, stop, nil
}

func running(ctx context.Context, file string) (runfile.Run, error) {
	const advice = "start one with make run or make local-sam, or use -own to let the demo start one"
	stack, err := read(file)
	if err != nil {
		return runfile.Run{}, fmt.Errorf("no stack: %w; %s", err, advice)
	}
	if !answers(ctx, stack) {
		return runfile.Run{}, fmt.Errorf("the stack of %s does not respond at %s; %s", file, stack.BaseURL, advice)
	}
	return stack, nil
}

func read(file string) (runfile.Run, error) {
	body, err := os.ReadFile(file) //nolint:gosec // the person names the file
	if err != nil {
		return runfile.Run{}, fmt.Errorf("read run file: %w", err)
	}
	var stack runfile.Run
	if err := json.Unmarshal(body, &stack); err != nil {
		return runfile.Run{}, fmt.Errorf("%s is not a run file: %w", file, err)
	}
	return stack, nil
}

// coldStart limits the wait for a stack's first response. LocalStack starts the function's process first, which takes
// several seconds on a busy machine. If nothing is listening, the request fails immediately.
const coldStart = 30 * time.Second

// answers reports whether the run file's stack responds and still has the run's first organisation.
func answers(ctx context.Context, stack runfile.Run) bool {
	if len(stack.Organisations) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, coldStart)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		stack.BaseURL+"/bridge/org?public_id="+stack.Organisations[0].PublicID, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// begin starts a runner on a free port and waits until the stack responds.
func begin(ctx context.Context, runner string, out io.Writer) (runfile.Run, func(), error) {
	dir, err := os.MkdirTemp("", "recordbridge-demo-")
	if err != nil {
		return runfile.Run{}, nil, fmt.Errorf("temporary folder: %w", err)
	}
	file, logFile := filepath.Join(dir, "run.json"), filepath.Join(dir, "runner.log")
	log, err := os.Create(logFile) //nolint:gosec // in the folder just made
	if err != nil {
		return runfile.Run{}, nil, fmt.Errorf("log file: %w", err)
	}
	fmt.Fprintf(out, "Starting a stack (log: %s)\n", logFile)
	//nolint:gosec // the person names the runner
	command := exec.CommandContext(ctx, runner, "-addr", "127.0.0.1:0", "-run-file", file)
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		return runfile.Run{}, nil, errors.Join(fmt.Errorf("start %s: %w", runner, err), os.RemoveAll(dir))
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	stop := func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = log.Close()
	}
	for {
		if stack, err := read(file); err == nil && answers(ctx, stack) {
			return stack, func() { stop(); _ = os.RemoveAll(dir) }, nil
		}
		select {
		case <-ended:
			return runfile.Run{}, nil, fmt.Errorf("the runner exited; see %s", logFile)
		case <-ctx.Done():
			stop()
			return runfile.Run{}, nil, errors.New("the runner did not become ready; see " + logFile)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
