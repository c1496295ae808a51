package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// process is the function's binary with the Runtime API that it talks to.
type process struct {
	api    *runtimeAPI
	server *http.Server
	kill   context.CancelFunc
	gone   chan struct{} // closed when the process has ended
	exit   error         // how it ended, then
}

// begin starts the function.
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
	command := exec.CommandContext(ctx, filepath.Join(o.folder, "bootstrap"))
	command.Dir, command.Stdout, command.Stderr = o.folder, output, output
	command.Env = append(command.Env, o.variables...)
	command.Env = append(command.Env, "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String(), "_HANDLER=bootstrap", "LAMBDA_TASK_ROOT="+o.folder)
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

// stop ends the process, if it has not ended yet, and waits for that.
func (p *process) stop() {
	p.kill()
	<-p.gone
}

// output gathers the log lines of a function.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// take returns what was written since the last time.
func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.text.String()
	o.text.Reset()
	return text
}
