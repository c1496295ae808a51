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
	// giveUpBy is set before the first request. A server that demands to be left alone until later is given up: it is
	// not asked any more, and what it was not asked for has failed. Zero for no such moment.
	giveUpBy time.Time

	mu        sync.Mutex
	notBefore time.Time          // the server has asked to be left alone until then
	demand    *fhir.RequestError // with which it has; nil where only a rate limit is nearly used up
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

// slowDown makes requests wait for the next window of a rate limit that is nearly used up. A window that ends later
// is not waited for: the server has refused nothing, and says how long to wait when it does.
func (p *pace) slowDown(rate fhir.Rate) {
	if isScarce(rate) && rate.Reset <= longestWait {
		p.leaveAlone(rate.Reset, nil)
	}
}

// recordDemand keeps the wait that a refusal demands, however long it is. It holds for all requests, whichever was
// refused, and also after the last try of that one (RFC 9110 section 10.2.3, RFC 6585 section 4).
func (p *pace) recordDemand(failed *fhir.RequestError) {
	if failed.RetryAfter > 0 {
		p.leaveAlone(failed.RetryAfter, failed)
	}
}

// isScarce reports whether a rate limit is nearly used up.
func isScarce(rate fhir.Rate) bool { return rate.Known && rate.Remaining*scarce < rate.Limit }

func (p *pace) leaveAlone(wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(wait); until.After(p.notBefore) {
		p.notBefore, p.demand = until, demand
	}
}

// left returns how long the server is still to be left alone, and the refusal that demands it, if one does.
func (p *pace) left() (wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.notBefore.Sub(p.now()), 0), p.demand
}

// givenUp reports whether the server has been given up, and for which refusal.
func (p *pace) givenUp() (demand *fhir.RequestError, isGivenUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.demand, p.demand != nil && !p.giveUpBy.IsZero() && p.notBefore.After(p.giveUpBy)
}

// waitForServer waits until the server may be asked. A wait that is too long for a running function stops the run.
func (p *pace) waitForServer(ctx context.Context) (export.Result, error) {
	for {
		wait, demand := p.left()
		switch {
		case wait <= 0:
			return export.Result{}, nil
		case p.isTooLong(wait):
			return putOff(wait, demand), nil
		}
		if err := sleep(ctx, wait); err != nil {
			return export.Result{}, err
		}
	}
}

// putOff ends a run for a wait, which a refusal demands unless that is nil.
func putOff(wait time.Duration, demand *fhir.RequestError) export.Result {
	stop := export.Result{Kind: export.Yield, Wait: wait}
	if demand != nil {
		stop.Cause = demand
	}
	return stop
}

// isTooLong reports whether a wait is to be spent in the queue.
func (p *pace) isTooLong(wait time.Duration) bool {
	return wait > longestWait || !p.pauseBy.IsZero() && p.now().Add(wait).After(p.pauseBy)
}

// backOff lets time pass after a try that failed. What the server asked for holds for all requests. A wait that is too
// long for a running function stops the run.
func (p *pace) backOff(ctx context.Context, failed *fhir.RequestError, try int) (export.Result, error) {
	wait := max(failed.RetryAfter, firstWait<<(try-1))
	if p.isTooLong(wait) {
		return export.Result{Kind: export.Yield, Wait: wait, Tried: try, Cause: failed}, nil
	}
	if failed.RetryAfter > 0 {
		p.leaveAlone(wait, failed)
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
