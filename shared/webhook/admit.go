package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
)

// admit decides whether the attempt of a delivery in flight may start. One that may not is scheduled for later and keeps
// its number: neither an open breaker nor the endpoint's rate uses up attempts (docs/webhooks.md, Answering).
func (w Worker) admit(ctx context.Context, e errand) (errand, error) {
	now := w.Now()
	health := e.subscription.Health
	if health.isOpen(now) {
		return w.waitFor(e, now, health.OpenUntil), nil
	}
	if !health.OpenUntil.IsZero() {
		return w.probe(ctx, e, now)
	}
	return w.pace(ctx, e, now)
}

// probe takes the one attempt that shows whether the endpoint works again. For as long as it may take, the breaker is
// open to everyone else.
func (w Worker) probe(ctx context.Context, e errand, now time.Time) (errand, error) {
	s := e.subscription
	probing := s.Health
	probing.OpenUntil = now.Add(w.Lease)
	err := w.Conditions.ReviseHealth(ctx, s.Tenant, s.ID, s.Health, probing)
	if errors.Is(err, fault.Conflict) {
		return w.waitFor(e, now, probing.OpenUntil), nil
	}
	if err != nil {
		return e, fmt.Errorf("take the probe: %w", err)
	}
	e.isProbe = true
	return e, nil
}

// waitFor schedules a delivery for when the breaker lets attempts through, spread over a time, so that they do not all
// come for the one probe.
func (w Worker) waitFor(e errand, now, open time.Time) errand {
	e.delivery.Paced = false
	e.delivery.schedule(now, open.Add(scaled(openFor, w.Luck())))
	return e
}

// pace takes a place in the endpoint's rate. One that is not free yet is kept for the delivery, so that it waits once,
// however many there are before it.
func (w Worker) pace(ctx context.Context, e errand, now time.Time) (errand, error) {
	s := e.subscription
	onTime := e.delivery.Paced && now.Sub(e.delivery.NextAt) <= lateBy
	if onTime || w.Pacer.spares(s, now) {
		return e, nil
	}
	place, err := w.Conditions.ReserveSlot(ctx, s.Tenant, s.ID, s.Health.NextSlot, now, s.interval())
	if err != nil {
		return e, fmt.Errorf("take a place in the rate: %w", err)
	}
	e.delivery.Paced = false
	if at := place.Add(s.interval() - burstEvery); at.After(now) {
		e.delivery.Paced = true
		e.delivery.schedule(now, at)
	}
	return e, nil
}
