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
	longestWait = 30 * time.Second // for a longer wait, the run ends and the task waits in the queue
	// scarce defines when a rate limit is nearly exhausted: less than 1/scarce of the window's requests remain. If a
	// limit is nearly exhausted, requests wait for its next window.
	scarce = 20
)

// pace limits the rate of requests to a server.
type pace struct {
	now     func() time.Time
	pauseBy time.Time // latest time at which any wait may end; zero if there is no limit
	// giveUpBy is set before the first request. If a server demands a pause beyond giveUpBy, the session sends no
	// further requests, and the remaining requests count as failed. If giveUpBy is zero, there is no limit.
	giveUpBy time.Time

	mu        sync.Mutex
	notBefore time.Time          // end of the pause that the server demanded
	demand    *fhir.RequestError // refusal that demanded the pause; nil if the cause is a nearly exhausted rate limit
}

// triesFor returns the number of attempts for a request that failed with the given error.
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

// slowDown delays requests until the rate limit's next window if the limit is nearly exhausted. If the next rate-limit
// window begins only after longestWait, slowDown does nothing, because a later refusal will state any required wait.
func (p *pace) slowDown(rate fhir.Rate) {
	if isScarce(rate) && rate.Reset <= longestWait {
		p.pauseFor(rate.Reset, nil)
	}
}

// recordDemand stores the pause demanded by a refusal, regardless of the pause's length. The pause applies to all
// requests, even after the last attempt at the refused request (RFC 9110 section 10.2.3, RFC 6585 section 4).
func (p *pace) recordDemand(failed *fhir.RequestError) {
	if failed.RetryAfter > 0 {
		p.pauseFor(failed.RetryAfter, failed)
	}
}

func isScarce(rate fhir.Rate) bool { return rate.Known && rate.Remaining*scarce < rate.Limit }

func (p *pace) pauseFor(wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.now().Add(wait); until.After(p.notBefore) {
		p.notBefore, p.demand = until, demand
	}
}

// left returns the remaining pause and the refusal that demanded it, if any.
func (p *pace) left() (wait time.Duration, demand *fhir.RequestError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.notBefore.Sub(p.now()), 0), p.demand
}

// givenUp reports whether the session has given up on the server. It also returns the refusal that demanded the current
// pause, if any.
func (p *pace) givenUp() (demand *fhir.RequestError, isGivenUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.demand, p.demand != nil && !p.giveUpBy.IsZero() && p.notBefore.After(p.giveUpBy)
}

// waitForServer waits until requests may be sent. If the wait is too long for a running function, waitForServer stops
// the run.
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

// putOff returns a result that ends the run and defers the task by wait. The demand argument is the refusal that
// demanded the wait, or nil.
func putOff(wait time.Duration, demand *fhir.RequestError) export.Result {
	stop := export.Result{Kind: export.Yield, Wait: wait}
	if demand != nil {
		stop.Cause = demand
	}
	return stop
}

// isTooLong reports whether the task should wait in the queue instead of in a running function.
func (p *pace) isTooLong(wait time.Duration) bool {
	return wait > longestWait || !p.pauseBy.IsZero() && p.now().Add(wait).After(p.pauseBy)
}

// backOff waits after a failed attempt. A wait that the server demanded applies to all requests. If the wait is too
// long for a running function, backOff stops the run.
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
