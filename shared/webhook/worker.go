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
	// sweepGrace is the time that the sweeper waits after a message's expected effect before it intervenes.
	sweepGrace = 30 * time.Second
	// longestDelay is SQS's maximum delay. Only the sweeper starts attempts that are due later.
	longestDelay = 15 * time.Minute
	// parallelPosts is the maximum number of sockets that a fan-out opens at once. The value equals the maximum number
	// of subscriptions, so that waiting for a slow receiver does not outlast another delivery's lease.
	parallelPosts = 25
)

// Worker delivers events to webhooks. A Worker's methods are idempotent, because a duplicate or late call finds nothing
// to claim.
type Worker struct {
	Store   Store
	Batches BatchStore // required only by PlanTogether
	Health  HealthStore
	Owners  Owners
	Secrets Opener
	Links   LinkSigner
	Poster  Poster
	Queue   Queue
	Pacer   *Pacer
	Now     func() time.Time
	Jitter  func() float64 // returns a number in [0, 1)
	Lease   time.Duration  // must exceed the duration of a POST request
}

// dispatch holds a delivery with all the data needed to attempt it.
type dispatch struct {
	event        Event
	subscription Subscription
	delivery     Delivery
	isProbe      bool // whether the breaker is open and admits only this attempt
}

// DeliverEvent creates an event's deliveries and makes the first attempt for each delivery. Errors are internal.
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

// RetryDelivery makes the next attempt of a delivery that is due. Errors are internal.
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
		// If the subscription is missing or no longer receives the type, no request must be sent for the delivery.
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

// first returns an event's delivery to a subscription. The delivery is in flight or held, or is scheduled if it has to
// wait.
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

// begin attempts, queues or logs a new delivery, depending on its status.
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

// end sets a delivery's final status. An ended delivery doesn't have a lease and is invisible to the sweeper.
func (d *Delivery) end(status DeliveryStatus) {
	d.Status, d.DueAt, d.LeaseUntil = status, time.Time{}, time.Time{}
}

// hold marks a disabled subscription's delivery as held. A replay can resend the delivery.
func (d *Delivery) hold() { d.end(Held) }

// schedule postpones the next attempt until at and releases the lease, so that any worker may claim the delivery.
func (d *Delivery) schedule(now, at time.Time) {
	d.Status, d.NextAt, d.DueAt, d.LeaseUntil = Scheduled, at, at, time.Time{}
	if at.Sub(now) <= longestDelay {
		d.DueAt = at.Add(sweepGrace)
	}
}

// enqueue queues a message for delivery. If the delivery must wait longer than a message's maximum delay, only the
// sweeper starts it.
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
	// Store the outcome of the POST that was sent, even after the deadline.
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
