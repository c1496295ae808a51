package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
)

// admit decides whether an attempt of an in-flight delivery may start. A rejected attempt is scheduled for later and
// keeps its number, because neither an open breaker nor the endpoint's rate limit uses up attempts
// (docs/guide/webhooks.md, Retries).
func (w Worker) admit(ctx context.Context, d dispatch) (dispatch, error) {
	now := w.Now()
	health := d.subscription.Health
	if health.isOpen(now) {
		return w.waitFor(d, now, health.OpenUntil), nil
	}
	if !health.OpenUntil.IsZero() {
		return w.probe(ctx, d, now)
	}
	return w.pace(ctx, d, now)
}

// probe claims the single attempt that tests whether the endpoint has recovered. The breaker stays open for all other
// attempts until the probe ends.
func (w Worker) probe(ctx context.Context, d dispatch, now time.Time) (dispatch, error) {
	s := d.subscription
	probing := s.Health
	probing.OpenUntil = now.Add(w.Lease)
	err := w.Health.ReviseHealth(ctx, s.Tenant, s.ID, s.Health, probing)
	if errors.Is(err, fault.Conflict) {
		return w.waitFor(d, now, probing.OpenUntil), nil
	}
	if err != nil {
		return d, fmt.Errorf("take the probe: %w", err)
	}
	d.isProbe = true
	return d, nil
}

// waitFor schedules a delivery for the time at which the breaker next admits attempts. The times are spread so that the
// deliveries don't all compete for the single probe.
func (w Worker) waitFor(d dispatch, now, open time.Time) dispatch {
	d.delivery.Paced, d.delivery.Slowly = false, false
	d.delivery.schedule(now, open.Add(scaled(openFor, w.Jitter())))
	return d
}

// pace reserves a time slot under the endpoint's rate limit. If the slot is in the future, it stays reserved, so the
// delivery waits only once, however many deliveries are ahead of it.
func (w Worker) pace(ctx context.Context, d dispatch, now time.Time) (dispatch, error) {
	s := d.subscription
	isSlow := s.Health.isSlow(now)
	// Slots reserved before the endpoint became slow are ignored, because there are too many of them.
	hasReservation := d.delivery.Paced && (d.delivery.Slowly || !isSlow)
	if hasReservation && now.Sub(d.delivery.NextAt) <= lateBy || !isSlow && w.Pacer.spares(s, now) {
		return d, nil
	}
	if isSlow && s.Health.NextSlot.Sub(now) > slowAhead {
		return w.waitFor(d, now, now), nil
	}
	interval, taken := s.interval(now), s.reservedAtOnce(now)
	place, err := w.Health.ReserveSlot(ctx, s.Tenant, s.ID, s.Health.NextSlot, now, taken)
	if err != nil {
		return d, fmt.Errorf("take a place in the rate: %w", err)
	}
	d.delivery.Paced, d.delivery.Slowly = false, false
	if at := place.Add(taken - burstEvery); at.After(now) {
		d.delivery.Paced, d.delivery.Slowly = true, isSlow
		d.delivery.schedule(now, at)
		return d, nil
	}
	w.Pacer.keep(s, int(taken/interval)-1, now)
	return d, nil
}

// reservedAtOnce returns the total duration of the slots that a process reserves with one call. These are one slot and,
// if no slots are taken, further slots for attempts that may follow. Unused slots expire.
func (s Subscription) reservedAtOnce(now time.Time) time.Duration {
	interval := s.interval(now)
	if s.Health.isSlow(now) || s.Health.NextSlot.After(now) {
		return interval
	}
	return max(interval, takenAhead.Truncate(interval))
}

// Pacer reduces the number of store calls that enforce endpoints' rate limits. The store allocates slots at an
// endpoint's rate. Each allocation requires a store call, so a process reserves slots in advance. In the time that 500
// slots take, a process also admits one attempt per subscription without a store call. Across all processes, attempts
// without a store call exceed the rate by at most a tenth. Pacer is safe for concurrent use.
type Pacer struct {
	mu    sync.Mutex
	known *cache.Cache[string, allowance]
}

// NewPacer returns a Pacer.
func NewPacer(now func() time.Time) *Pacer {
	return &Pacer{known: cache.New[string, allowance](pacerSize, pacerLife, now)}
}

// allowance tracks the attempts that a process may start without a store call.
type allowance struct {
	spared time.Time // time of the last attempt admitted without a slot
	places int       // number of slots reserved in advance
	until  time.Time // time at which the slots expire
}

const (
	// processes is the maximum number of concurrent workers, as set in template.yaml (MaximumConcurrency of the
	// delivery queue).
	processes  = 50
	spared     = 10 * processes
	pacerSize  = 4096
	pacerLife  = time.Hour   // longer than the lifetime of any allowance
	burstEvery = time.Second // An endpoint may use one second's worth of slots at once.
	takenAhead = burstEvery / 5
	// lateBy is the maximum delay with which a slot may still be used. Messages wait briefly in the queue, and arrive
	// up to a second late because queue delays are whole seconds. If lateBy were larger, a backlog would start at once
	// and defeat the rate limit.
	lateBy = 2 * time.Second
)

// spares reports whether an attempt may start without a store call.
func (p *Pacer) spares(s Subscription, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, _ := p.known.Get(s.ID)
	switch {
	case a.places > 0 && now.Before(a.until):
		a.places--
	case now.Sub(a.spared) >= spared*s.interval(now):
		a.spared = now
	default:
		return false
	}
	p.known.Put(s.ID, a)
	return true
}

// keep records slots reserved in advance.
func (p *Pacer) keep(s Subscription, places int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, _ := p.known.Get(s.ID)
	a.places, a.until = places, now.Add(burstEvery)
	p.known.Put(s.ID, a)
}
