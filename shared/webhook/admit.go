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

// admit decides whether the attempt of a delivery in flight may start. One that may not is scheduled for later and
// keeps its number: neither an open breaker nor the endpoint's rate uses up attempts (docs/guide/webhooks.md, Retries).
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

// probe takes the one attempt that shows whether the endpoint works again. For as long as it may take, the breaker is
// open to everyone else.
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

// waitFor schedules a delivery for when the breaker lets attempts through, spread over a time, so that they do not all
// come for the one probe.
func (w Worker) waitFor(d dispatch, now, open time.Time) dispatch {
	d.delivery.Paced, d.delivery.Slowly = false, false
	d.delivery.schedule(now, open.Add(scaled(openFor, w.Jitter())))
	return d
}

// pace takes a place in the endpoint's rate. One that is not free yet is kept for the delivery, so that it waits once,
// however many there are before it.
func (w Worker) pace(ctx context.Context, d dispatch, now time.Time) (dispatch, error) {
	s := d.subscription
	isSlow := s.Health.isSlow(now)
	// not one of the time before it was slow: there are too many
	isHis := d.delivery.Paced && (d.delivery.Slowly || !isSlow)
	if isHis && now.Sub(d.delivery.NextAt) <= lateBy || !isSlow && w.Pacer.spares(s, now) {
		return d, nil
	}
	if isSlow && s.Health.NextSlot.Sub(now) > slowAhead {
		return w.waitFor(d, now, now), nil
	}
	interval, taken := s.interval(now), s.takenAtOnce(now)
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

// takenAtOnce is how much of an endpoint's rate a process takes with one call: one place, or, where all of it
// is free, some more for what may come next. What it does not use is lost, but nobody waits for that: the next
// one takes one place alone.
func (s Subscription) takenAtOnce(now time.Time) time.Duration {
	interval := s.interval(now)
	if s.Health.isSlow(now) || s.Health.NextSlot.After(now) {
		return interval
	}
	return max(interval, takenAhead.Truncate(interval))
}

// Pacer spares endpoints the bookkeeping of their rate. Places in an endpoint's rate are handed out by the store,
// which costs a call: a process uses what it has taken ahead, and lets one attempt to a subscription through without
// asking, once in 500 places' time. In all processes together that is a tenth more than the rate at most. It is safe
// for concurrent use.
type Pacer struct {
	mu    sync.Mutex // of an allowance from reading to writing
	known *cache.Cache[string, allowance]
}

// NewPacer makes a Pacer.
func NewPacer(now func() time.Time) *Pacer {
	return &Pacer{known: cache.New[string, allowance](pacerSize, pacerLife, now)}
}

// allowance is what a process may do without asking.
type allowance struct {
	spared time.Time // when an attempt was let through last
	places int       // that were taken ahead
	until  time.Time // when they are lost
}

const (
	// processes is as many workers as template.yaml lets run at once (MaximumConcurrency of the delivery queue).
	processes  = 50
	spared     = 10 * processes
	pacerSize  = 4096
	pacerLife  = time.Hour   // longer than an allowance is of use
	burstEvery = time.Second // an endpoint may take the places of a second at once
	takenAhead = burstEvery / 5
	// lateBy is how late a place may be used: messages come up to a second late, because their delays are whole seconds,
	// and wait a little in the queue. Later, after a backlog, so many would come at once that the rate would mean nothing.
	lateBy = 2 * time.Second
)

// spares reports whether an attempt may go ahead without asking the store.
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

// keep notes places that were taken ahead at now.
func (p *Pacer) keep(s Subscription, places int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, _ := p.known.Get(s.ID)
	a.places, a.until = places, now.Add(burstEvery)
	p.known.Put(s.ID, a)
}
