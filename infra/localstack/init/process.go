package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// process is a running function with its Runtime API.
type process struct {
	api    *runtimeAPI
	server *http.Server
	kill   context.CancelFunc
	gone   chan struct{} // closed when the process has ended
	exit   error         // exit error; valid once gone is closed
}

func begin(ctx context.Context, o options, output *output) (*process, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("runtime API: %w", err)
	}
	p := &process{api: newRuntimeAPI(o.limit, o.now), gone: make(chan struct{})}
	p.server = &http.Server{Handler: p.api, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	ctx, p.kill = context.WithCancel(ctx)
	//nolint:gosec // the function's own, which is what this program is for
	command := exec.CommandContext(ctx, filepath.Join(o.folder, "bootstrap"))
	command.Dir, command.Stdout, command.Stderr = o.folder, output.file, output.file
	command.Env = append(command.Env, o.variables...)
	command.Env = append(command.Env, "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String(), "_HANDLER=bootstrap",
		"LAMBDA_TASK_ROOT="+o.folder)
	if err := command.Start(); err != nil {
		p.kill()
		return nil, errors.Join(err, p.server.Close())
	}
	go func() {
		p.exit = command.Wait()
		_ = p.server.Close()
		close(p.gone)
	}()
	return p, nil
}

// stop kills the process if it is still running and waits until it has ended.
func (p *process) stop() {
	p.kill()
	<-p.gone
}

// output collects a function's log lines in a file, so that a response's log includes all lines written before it.
type output struct {
	file *os.File
	read int64
}

func newOutput() (*output, error) {
	file, err := os.CreateTemp("", "output-*")
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	if err = os.Remove(file.Name()); err != nil { // the open file remains usable after its deletion
		return nil, fmt.Errorf("output: %w", err)
	}
	return &output{file: file}, nil
}

// take returns the output written since the last call.
func (o *output) take() string {
	text, err := io.ReadAll(io.NewSectionReader(o.file, o.read, math.MaxInt64-o.read))
	o.read += int64(len(text))
	if err != nil {
		return string(text) + err.Error()
	}
	return string(text)
}
