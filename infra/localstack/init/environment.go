package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type options struct {
	reports   reports
	limit     time.Duration // time limit for an invocation
	now       func() time.Time
	folder    string // folder containing the bootstrap executable
	variables []string
}

// environment keeps a container's function running and passes it LocalStack's invocations one at a time.
type environment struct {
	options

	output *output
	asked  chan invocation
}

func newEnvironment(o options) (*environment, error) {
	out, err := newOutput()
	return &environment{options: o, output: out, asked: make(chan invocation)}, err
}

// ServeHTTP accepts an invocation from LocalStack; its result is reported later.
func (e *environment) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var i invocation
	if err := json.NewDecoder(r.Body).Decode(&i); err != nil || r.URL.Path != "/invoke" {
		http.Error(w, "want an invocation", http.StatusBadRequest)
		return
	}
	select {
	case e.asked <- i:
		w.WriteHeader(http.StatusOK)
	case <-r.Context().Done():
	}
}

// run keeps the function running until ctx is done, restarting it if it exits or times out, as Lambda does. If the
// function fails to start, run reports the failure and ends the environment.
func (e *environment) run(ctx context.Context) error {
	for first := true; ctx.Err() == nil; first = false {
		p, err := begin(ctx, e.options, e.output)
		if ctx.Err() != nil && p == nil {
			return nil
		}
		if err != nil {
			e.reports.broken(encode(failure{Type: "Runtime.InvalidEntrypoint", Message: err.Error()}))
			return err
		}
		why := e.await(ctx, p)
		if why == nil {
			if first {
				e.reports.ready()
			}
			e.serve(ctx, p)
		}
		p.stop()
		if why != nil {
			e.reports.broken(why)
			return fmt.Errorf("the function does not start: %s", why)
		}
	}
	return nil
}

// await waits until the process requests its first invocation. If the process ends before its first request, await
// returns the reason in Lambda's format.
func (e *environment) await(ctx context.Context, p *process) (why []byte) {
	select {
	case <-ctx.Done():
		return nil
	case <-p.api.asked:
		return nil
	case why = <-p.api.broken:
		return why
	case <-p.gone:
		return e.exited(p)
	}
}

func (e *environment) exited(p *process) []byte {
	select {
	case why := <-p.api.broken: // the process has already reported why it failed
		return why
	default:
		return encode(failure{Type: "Runtime.ExitError", Message: fmt.Sprint(p.exit, " ", e.output.take())})
	}
}

// serve passes invocations to a process until an invocation times out or the process ends.
func (e *environment) serve(ctx context.Context, p *process) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.gone:
			return
		case i := <-e.asked:
			result, usable := e.invoke(ctx, p, i)
			e.reports.answered(result, fmt.Sprintf("START RequestId: %[1]s Version: $LATEST\n%[2]sEND RequestId: "+
				"%[1]s\nREPORT RequestId: %[1]s\n", i.ID, e.output.take()))
			if !usable {
				return
			}
		}
	}
}

// invoke passes an invocation to a process. usable reports whether the process can handle another one.
func (e *environment) invoke(ctx context.Context, p *process, i invocation) (result outcome, usable bool) {
	limit := time.NewTimer(e.limit)
	defer limit.Stop()
	failed := func(why []byte) (outcome, bool) { return outcome{id: i.ID, failed: true, body: why}, false }
	for work := p.api.work; ; {
		select {
		case work <- i:
			work = nil
		case result = <-p.api.done:
			return result, true
		case <-p.gone:
			return failed(e.exited(p))
		case <-limit.C:
			return failed(encode(failure{
				Type:    "Sandbox.Timedout",
				Message: fmt.Sprintf("%s Task timed out after %.2f seconds", i.ID, e.limit.Seconds()),
			}))
		case <-ctx.Done():
			return failed(encode(failure{Type: "Runtime.ExitError", Message: "the container is stopped"}))
		}
	}
}
