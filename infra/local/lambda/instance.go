package lambda

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

type instance struct {
	id      string
	pool    *pool
	command *exec.Cmd
	work    chan *invocation
	ready   chan struct{} // closed when the process first requests work
	gone    chan struct{} // closed when the process has ended and is no longer referenced

	// The following fields are guarded by Subprocesses.mu. After gone is closed, these fields can be read without the
	// mutex.
	started  bool
	current  *invocation
	latest   string      // trace of the latest invocation or, before the first, of the one that started the process
	clock    *time.Timer // timer that kills the process; runs during startup, invocations and any limited idle time
	timedOut bool
	retired  bool           // true if the process is being stopped because it was idle; it then holds no slot
	initFail *FunctionError // startup failure reported by the process itself
	exit     error
}

type invocation struct {
	id        string
	trace     string // root of the invocation's trace ID
	payload   []byte
	deadline  time.Time
	delivered atomic.Bool   // true if the process has received the invocation
	over      chan struct{} // closed when the process requests more work after receiving the invocation
	answer    *outcome      // guarded by Subprocesses.mu until over or the instance's channel gone is closed
}

type outcome struct {
	body []byte
	err  error
}

// start starts a process in p. trace belongs to the invocation for which the process is started. The caller must hold
// Subprocesses.mu and one of p's slots.
func (s *Subprocesses) start(ctx context.Context, p *pool, trace string) (*instance, error) {
	in := &instance{
		id: rand.Text(), pool: p, latest: trace, work: make(chan *invocation, 1), ready: make(chan struct{}),
		gone: make(chan struct{}),
	}
	path, err := filepath.Abs(p.function.Bootstrap)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.function.ID, err)
	}
	// The process outlives the invocation that starts it.
	in.command = exec.CommandContext(context.WithoutCancel(ctx), path) //nolint:gosec // the path is our own build output
	in.command.Dir = filepath.Dir(path)
	in.command.Env = s.environment(p.function, in.id)
	in.command.SysProcAttr = Detached(syscall.SIGKILL)
	in.command.WaitDelay = time.Second
	stdout, stderr := s.lineWriter(in), s.lineWriter(in)
	in.command.Stdout, in.command.Stderr = stdout, stderr
	if err := in.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.function.ID, err)
	}
	in.clock = time.AfterFunc(p.function.Timeout, func() { s.expire(in, nil) })
	s.instances[in.id] = in
	p.live[in] = struct{}{}
	go func() {
		in.exit = in.command.Wait()
		stdout.flush()
		stderr.flush()
		s.remove(in)
		close(in.gone)
	}()
	return in, nil
}

// alive reports whether the process may still be running. The caller must hold Subprocesses.mu.
func (in *instance) alive() bool {
	_, known := in.pool.live[in]
	return known
}

// waitReady waits until a cold start completes or fails.
func (in *instance) waitReady() error {
	select {
	case <-in.ready:
		return nil
	case <-in.gone:
	}
	if in.initFail != nil {
		return in.initFail
	}
	return in.cause()
}

// wait waits for inv to end. If the process ended before receiving inv, ok is false.
func (in *instance) wait(inv *invocation) (out outcome, ok bool) {
	select {
	case <-inv.over:
		if inv.answer == nil {
			return outcome{err: &FunctionError{Type: "Runtime.NoResponse", Message: "the function did not respond"}}, true
		}
		return *inv.answer, true
	case <-in.gone:
	}
	switch {
	case inv.answer != nil:
		return *inv.answer, true
	case inv.delivered.Load() || in.timedOut:
		return outcome{err: in.cause()}, true
	default:
		return outcome{}, false
	}
}

// cause returns the error that Lambda would report for the way the process ended.
func (in *instance) cause() error {
	if in.timedOut {
		seconds := in.pool.function.Timeout.Seconds()
		return &FunctionError{Type: "Sandbox.Timedout", Message: fmt.Sprintf("Task timed out after %.2f seconds", seconds)}
	}
	how := "the process ended by itself"
	if in.exit != nil {
		how = in.exit.Error()
	}
	return &FunctionError{Type: "Runtime.ExitError", Message: how}
}

// kill ends the process immediately. The instance's cleanup starts once the process has ended.
func (in *instance) kill() { _ = in.command.Process.Kill() } // fails only if the process has already ended

// killAll ends all instances and waits for them to end.
func killAll(victims []*instance) {
	for _, in := range victims {
		in.kill()
	}
	for _, in := range victims {
		<-in.gone
	}
}
