package source

import (
	"context"
	"sync"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
)

const (
	maxTries    = 5
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second // a longer wait is spent in the queue, not in a running function
	// scarce is the part of a rate limit below which requests wait for its next window.
	scarce = 20
)

// pace is how fast a server may be asked.
type pace struct {
	now     func() time.Time
	pauseBy time.Time // no wait may reach beyond it; zero for no such moment

	mu        sync.Mutex
	notBefore time.Time // the server has asked to be left alone until then
}

// triesFor says how often a request may be made that failed so.
func triesFor(failed *fhir.RequestError) int {
	if failed.Refusal == fhir.Denied || failed.Refusal == fhir.Missing || failed.Refusal == fhir.Unsupported {
		return 1
	}
	switch failed.Class {
	case fhir.Limited, fhir.Network:
		return maxTries
	case fhir.ServerFault:
		if failed.Status == 500 || failed.Status == 408 {
			return 2 // some servers answer 500 to what they will never answer
		}
		return maxTries
	case fhir.Content:
		return 2
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
		return 1
	}
	return 1
}

// slowDown makes requests wait for the next window of a rate limit that is nearly used up.
func (p *pace) slowDown(rate fhir.Rate) {
	if isScarce(rate) && rate.Reset <= longestWait {
		p.leaveAlone(rate.Reset)
	}
}

// isScarce reports whether a rate limit is nearly used up.
func isScarce(rate fhir.Rate) bool { return rate.Known && rate.Remaining*scarce < rate.Limit }

func (p *pace) leaveAlone(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(wait); until.After(p.notBefore) {
		p.notBefore = until
	}
}

// waitForServer waits until the server may be asked.
func (p *pace) waitForServer(ctx context.Context) error {
	p.mu.Lock()
	wait := p.notBefore.Sub(p.now())
	p.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	return sleep(ctx, wait)
}

// backOff lets time pass after a try that failed. What the server asked for holds for all requests. A wait that is too long for
// a running function stops the run.
func (p *pace) backOff(ctx context.Context, failed *fhir.RequestError, try int) (export.Result, error) {
	wait := max(failed.RetryAfter, firstWait<<(try-1))
	if wait > longestWait || (!p.pauseBy.IsZero() && p.now().Add(wait).After(p.pauseBy)) {
		return export.Result{Kind: export.Yield, Wait: wait, Tried: try, Cause: failed}, nil
	}
	if failed.RetryAfter > 0 {
		p.leaveAlone(wait)
	}
	return export.Result{}, sleep(ctx, wait)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}
