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

// pace limits how fast a server is queried.
type pace struct {
	now     func() time.Time
	pauseBy time.Time // no wait may extend beyond it; zero for no limit
	// giveUpBy is set before the first request. A server that demands a pause beyond it is given up: it gets no further
	// requests, and the remaining ones count as failed. Zero for no limit.
	giveUpBy time.Time

	mu        sync.Mutex
	notBefore time.Time          // the server has demanded a pause until then
	demand    *fhir.RequestError // the refusal with that demand; nil if a rate limit is merely nearly used up
}

// triesFor returns the number of tries for a request that failed with the given error.
func triesFor(failed *fhir.RequestError) int {
	if failed.Refusal == fhir.Denied || failed.Refusal == fhir.Missing || failed.Refusal == fhir.Unsupported {
		return 1
	}
	switch failed.Class {
	case fhir.Limited, fhir.Network:
		return maxTries
	case fhir.ServerFault:
		if failed.Status == 500 || failed.Status == 408 {
			return 2 // some servers return 500 for requests that will never succeed
		}
		return maxTries
	case fhir.Content:
		return 2
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
		return 1
	}
	return 1
}

// slowDown delays requests until the next window of a rate limit that is nearly used up. It does not wait for a window
// that ends after longestWait: the server has refused nothing yet, and will state how long to wait when it does.
func (p *pace) slowDown(rate fhir.Rate) {
	if isScarce(rate) && rate.Reset <= longestWait {
		p.pauseFor(rate.Reset, nil)
	}
}

// recordDemand stores the wait that a refusal demands, however long it is. It applies to all requests, whichever was
// refused, and also after the last try of that one (RFC 9110 section 10.2.3, RFC 6585 section 4).
func (p *pace) recordDemand(failed *fhir.RequestError) {
	if failed.RetryAfter > 0 {
		p.pauseFor(failed.RetryAfter, failed)
	}
}

// isScarce reports whether a rate limit is nearly used up.
func isScarce(rate fhir.Rate) bool { return rate.Known && rate.Remaining*scarce < rate.Limit }

func (p *pace) pauseFor(wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(wait); until.After(p.notBefore) {
		p.notBefore, p.demand = until, demand
	}
}

// left returns the remaining wait that the server demands, and the refusal that demands it, if any.
func (p *pace) left() (wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.notBefore.Sub(p.now()), 0), p.demand
}

// givenUp reports whether the server has been given up, and returns the refusal that caused it.
func (p *pace) givenUp() (demand *fhir.RequestError, isGivenUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.demand, p.demand != nil && !p.giveUpBy.IsZero() && p.notBefore.After(p.giveUpBy)
}

// waitForServer waits until requests may be sent. A wait that is too long for a running function stops the run.
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

// putOff ends a run for a wait. demand is the refusal that demands it, or nil.
func putOff(wait time.Duration, demand *fhir.RequestError) export.Result {
	stop := export.Result{Kind: export.Yield, Wait: wait}
	if demand != nil {
		stop.Cause = demand
	}
	return stop
}

// isTooLong reports whether a wait should be spent in the queue.
func (p *pace) isTooLong(wait time.Duration) bool {
	return wait > longestWait || !p.pauseBy.IsZero() && p.now().Add(wait).After(p.pauseBy)
}

// backOff waits after a failed try. A wait that the server demanded applies to all requests. A wait that is too long
// for a running function stops the run.
func (p *pace) backOff(ctx context.Context, failed *fhir.RequestError, try int) (export.Result, error) {
	wait := max(failed.RetryAfter, firstWait<<(try-1))
	if p.isTooLong(wait) {
		return export.Result{Kind: export.Yield, Wait: wait, Tried: try, Cause: failed}, nil
	}
	if failed.RetryAfter > 0 {
		p.pauseFor(wait, failed)
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
