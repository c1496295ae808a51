// Package own starts a runner with a stack of its own, on free ports, for a program that must not use the stack of make
// run. Package own also reads the run files of running stacks.
package own

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

// Stack is a running stack that Start started.
type Stack struct {
	runfile.Run

	RunFile string // path of the run file
	Log     string // path of the file with the functions' and the runner's output

	dir     string
	command *exec.Cmd
	log     *os.File
	ended   chan struct{}
}

// Start starts the runner, which is a program file, in the folder root with further arguments, and waits until the
// stack responds. The caller must stop the stack.
func Start(ctx context.Context, root, runner string, out io.Writer, arguments ...string) (*Stack, error) {
	dir, err := os.MkdirTemp("", "recordbridge-own-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	s := &Stack{
		dir: dir, RunFile: filepath.Join(dir, "run.json"), Log: filepath.Join(dir, "runner.log"),
		ended: make(chan struct{}),
	}
	if s.log, err = os.Create(s.Log); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	fmt.Fprintf(out, "Starting a stack (log: %s)\n", s.Log)
	//nolint:gosec // the person names the runner
	s.command = exec.CommandContext(ctx, runner,
		append([]string{"-addr", "127.0.0.1:0", "-run-file", s.RunFile}, arguments...)...)
	s.command.Dir = root
	s.command.Stdout, s.command.Stderr = s.log, s.log
	s.command.Cancel = func() error { return s.command.Process.Signal(syscall.SIGTERM) }
	if err := s.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", runner, err), s.log.Close(), os.RemoveAll(dir))
	}
	go func() {
		_ = s.command.Wait()
		close(s.ended)
	}()
	return s, s.ready(ctx)
}

// Stop stops the runner and removes its files.
func (s *Stack) Stop() {
	s.end()
	_ = os.RemoveAll(s.dir)
}

func (s *Stack) end() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	<-s.ended
	_ = s.log.Close()
}

// Read returns the content of a run file.
func Read(file string) (runfile.Run, error) {
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

// Responds reports whether the run file's stack responds and still has the run's first organisation.
func Responds(ctx context.Context, stack runfile.Run) bool {
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

// ready waits until the stack responds. If it never does, ready keeps the log.
func (s *Stack) ready(ctx context.Context) error {
	for {
		if run, err := Read(s.RunFile); err == nil && Responds(ctx, run) {
			s.Run = run
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("the runner exited; see " + s.Log)
		case <-ctx.Done():
			s.end()
			return errors.New("the runner did not become ready; see " + s.Log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
