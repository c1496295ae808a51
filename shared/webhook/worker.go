package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// sweepGrace is the time after a message should have taken effect until the sweeper steps in.
	sweepGrace = 30 * time.Second
	// longestDelay is SQS's limit; later attempts depend on the sweeper alone.
	longestDelay = 15 * time.Minute
	// parallelPosts limits the sockets that one fan-out opens at once. It covers the maximum number of subscriptions, so
	// that slow receivers do not wait for one another beyond the lease.
	parallelPosts = 25
)

// Worker delivers events. Its methods are idempotent: a duplicate or late call finds nothing to claim.
type Worker struct {
	Store   Store
	Batches BatchStore // only PlanTogether needs it
	Health  HealthStore
	Owners  Owners
	Secrets Opener
	Links   LinkSigner
	Poster  Poster
	Queue   Queue
	Pacer   *Pacer
	Now     func() time.Time
	Jitter  func() float64 // in [0, 1)
	Lease   time.Duration  // longer than a POST may take
}

// dispatch is one delivery with everything needed to attempt it.
type dispatch struct {
	event        Event
	subscription Subscription
	delivery     Delivery
	isProbe      bool // the subscription's open breaker lets only this attempt through
}

// DeliverEvent creates the deliveries of an event and makes the first attempt of each. An error is internal.
func (w Worker) DeliverEvent(ctx context.Context, tenant org.Tenant, id string) error {
	event, err := w.Store.Event(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	if event.FannedOut {
		return nil
	}
	subscriptions, err := w.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	planned, err := w.plan(ctx, event, subscriptions)
	if err != nil {
		return err
	}
	return w.Deliver(ctx, planned)
}

func deliveriesOf(all []dispatch) []Delivery {
	deliveries := make([]Delivery, len(all))
	for i, d := range all {
		deliveries[i] = d.delivery
	}
	return deliveries
}

// RetryDelivery makes the due attempt of a delivery. An error is internal.
func (w Worker) RetryDelivery(ctx context.Context, tenant org.Tenant, id string) error {
	now := w.Now()
	claimed, err := w.Store.ClaimDelivery(ctx, tenant, id, now, now.Add(w.Lease))
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim delivery: %w", err)
	}
	event, err := w.Store.Event(ctx, tenant, claimed.EventID)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	subscriptions, err := w.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	i := slices.IndexFunc(subscriptions, func(s Subscription) bool {
		return s.ID == claimed.SubscriptionID &&
			s.has(event.Type)
	})
	if i < 0 {
		// The subscription was removed or no longer receives the type, so no request may be sent.
		claimed.end(Exhausted)
		return w.record(ctx, claimed, Attempt{
			Number: claimed.Attempt, Trigger: claimed.Trigger, At: now,
			Failure: Unsubscribed,
		})
	}
	d := dispatch{event: event, subscription: subscriptions[i], delivery: claimed}
	if d.subscription.Disabled {
		d.delivery.hold()
		d.tellHeld(ctx)
		return w.park(ctx, d.delivery)
	}
	if d, err = w.admit(ctx, d); err != nil {
		return err
	}
	if d.delivery.Status == Scheduled {
		if err := w.park(ctx, d.delivery); err != nil {
			return err
		}
		return w.enqueue(ctx, d.delivery)
	}
	return w.attempt(ctx, d)
}

// first returns the delivery of an event to a subscription: in flight, held, or scheduled if it has to wait.
func (w Worker) first(ctx context.Context, event Event, s Subscription) (dispatch, error) {
	now := w.Now()
	d := dispatch{event: event, subscription: s, delivery: Delivery{
		ID: DeliveryID(event.ID, s.ID), Tenant: event.Tenant, EventID: event.ID, SubscriptionID: s.ID,
		Status: InFlight, Attempt: 1, Fence: 1, Trigger: ByClock,
		NextAt: now, LeaseUntil: now.Add(w.Lease), DueAt: now.Add(w.Lease), CreatedAt: now,
	}}
	if s.Disabled {
		d.delivery.hold()
		return d, nil
	}
	return w.admit(ctx, d)
}

// begin performs the immediate action for a new delivery.
func (w Worker) begin(ctx context.Context, d dispatch) error {
	switch d.delivery.Status {
	case InFlight:
		return w.attempt(ctx, d)
	case Scheduled:
		return w.enqueue(ctx, d.delivery)
	case Held:
		d.tellHeld(ctx)
	case Delivered, Exhausted:
	}
	return nil
}

// end puts a delivery into a final status, without a lease and invisible to the sweeper.
func (d *Delivery) end(status DeliveryStatus) {
	d.Status, d.DueAt, d.LeaseUntil = status, time.Time{}, time.Time{}
}

// hold holds a disabled subscription's delivery for a replay.
func (d *Delivery) hold() { d.end(Held) }

// schedule postpones the next attempt until at, without a lease: any worker may claim the delivery then.
func (d *Delivery) schedule(now, at time.Time) {
	d.Status, d.NextAt, d.DueAt, d.LeaseUntil = Scheduled, at, at, time.Time{}
	if at.Sub(now) <= longestDelay {
		d.DueAt = at.Add(sweepGrace)
	}
}

// enqueue schedules a message for a delivery. A delivery that has to wait longer than a message's maximum delay is left
// to the sweeper.
func (w Worker) enqueue(ctx context.Context, d Delivery) error {
	wait := d.NextAt.Sub(w.Now())
	if wait > longestDelay {
		return nil
	}
	if err := w.Queue.EnqueueDelivery(ctx, d.Tenant, d.ID, wait); err != nil {
		return fmt.Errorf("enqueue delivery: %w", err)
	}
	return nil
}

func (w Worker) record(ctx context.Context, d Delivery, a Attempt) error {
	// The POST has been sent; a deadline that passes now must not lose its outcome.
	err := w.Store.RecordAttempt(context.WithoutCancel(ctx), d, a)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("record attempt: %w", err)
	}
	return nil
}

func (w Worker) park(ctx context.Context, d Delivery) error {
	if err := w.Store.ParkDelivery(ctx, d); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("park delivery: %w", err)
	}
	return nil
}
