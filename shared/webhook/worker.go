package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

const (
	// sweepGrace is how long after the moment that a nudge should have worked the sweeper steps in.
	sweepGrace = 30 * time.Second
	// longestNudge is SQS's limit; later attempts wait for the sweeper alone.
	longestNudge = 15 * time.Minute
	// parallelPosts bounds the sockets that one fan-out opens at once. It covers all subscriptions that there can be, so
	// that slow receivers do not wait for one another beyond the lease.
	parallelPosts = 25
)

// Worker delivers events. Its methods are safe to repeat: a duplicate or late call finds nothing to claim.
type Worker struct {
	Store      Store
	Conditions Conditions
	Notices    Notices
	Secrets    Opener
	Links      LinkSigner
	Poster     Poster
	Nudger     Nudger
	Pacer      *Pacer
	Now        func() time.Time
	Luck       func() float64 // in [0, 1), for jitter
	Lease      time.Duration  // longer than a POST may take
}

// errand is one delivery with all that is needed to attempt it.
type errand struct {
	event        Event
	subscription Subscription
	delivery     Delivery
	isProbe      bool // the breaker of the subscription is open but for this attempt
}

// DeliverEvent makes the deliveries of an event and attempts each for the first time. The error is our own fault.
func (w Worker) DeliverEvent(ctx context.Context, tenant org.Tenant, id string) error {
	event, err := w.Store.Event(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	if event.Settled {
		return nil
	}
	subscriptions, err := w.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	var errands []errand
	for _, s := range subscriptions {
		if !s.has(event.Type) {
			continue
		}
		e, err := w.first(ctx, event, s)
		if err != nil {
			return err
		}
		errands = append(errands, e)
	}
	if err := w.Store.FanOut(ctx, event, deliveriesOf(errands)); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		return fmt.Errorf("fan out event: %w", err)
	}
	var posts errgroup.Group
	posts.SetLimit(parallelPosts)
	for _, e := range errands {
		posts.Go(func() error { return w.begin(ctx, e) })
	}
	return posts.Wait() //nolint:wrapcheck // begin's errors come with their context
}

func deliveriesOf(errands []errand) []Delivery {
	deliveries := make([]Delivery, len(errands))
	for i, e := range errands {
		deliveries[i] = e.delivery
	}
	return deliveries
}

// RetryDelivery makes the attempt of a delivery that is due. The error is our own fault.
func (w Worker) RetryDelivery(ctx context.Context, tenant org.Tenant, id string) error {
	now := w.Now()
	d, err := w.Store.ClaimDelivery(ctx, tenant, id, now, now.Add(w.Lease))
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim delivery: %w", err)
	}
	event, err := w.Store.Event(ctx, tenant, d.EventID)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	subscriptions, err := w.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	i := slices.IndexFunc(subscriptions, func(s Subscription) bool { return s.ID == d.SubscriptionID && s.has(event.Type) })
	if i < 0 {
		// The subscription was removed or narrowed since: nobody is to be called any more.
		d.end(Exhausted)
		return w.settle(ctx, d, Attempt{Number: d.Attempt, Trigger: d.Trigger, At: now, Failure: Unsubscribed})
	}
	e := errand{event: event, subscription: subscriptions[i], delivery: d}
	if e.subscription.Disabled {
		e.delivery.hold()
		return w.park(ctx, e.delivery)
	}
	if e, err = w.admit(ctx, e); err != nil {
		return err
	}
	if e.delivery.Status == Scheduled {
		if err := w.park(ctx, e.delivery); err != nil {
			return err
		}
		return w.nudge(ctx, e.delivery)
	}
	return w.attempt(ctx, e)
}

// first makes the delivery of an event to a subscription: in flight, held, or scheduled where it has to wait.
func (w Worker) first(ctx context.Context, event Event, s Subscription) (errand, error) {
	now := w.Now()
	e := errand{event: event, subscription: s, delivery: Delivery{
		ID: DeliveryID(event.ID, s.ID), Tenant: event.Tenant, EventID: event.ID, SubscriptionID: s.ID,
		Status: InFlight, Attempt: 1, Fence: 1, Trigger: ByClock,
		NextAt: now, LeaseUntil: now.Add(w.Lease), DueAt: now.Add(w.Lease), CreatedAt: now,
	}}
	if s.Disabled {
		e.delivery.hold()
		return e, nil
	}
	return w.admit(ctx, e)
}

// begin does what is to be done at once for a delivery that was just made.
func (w Worker) begin(ctx context.Context, e errand) error {
	switch e.delivery.Status {
	case InFlight:
		return w.attempt(ctx, e)
	case Scheduled:
		return w.nudge(ctx, e.delivery)
	case Delivered, Exhausted, Held:
	}
	return nil
}

// end puts a delivery into a state in which nobody looks at it any more.
func (d *Delivery) end(status DeliveryStatus) { d.Status, d.DueAt = status, time.Time{} }

// hold keeps a delivery to a disabled subscription for a replay.
func (d *Delivery) hold() { d.end(Held) }

// schedule makes the attempt that is next wait until at.
func (d *Delivery) schedule(now, at time.Time) {
	d.Status, d.NextAt, d.DueAt = Scheduled, at, at
	if at.Sub(now) <= longestNudge {
		d.DueAt = at.Add(sweepGrace)
	}
}

// nudge has a delivery looked at in time. One that has to wait longer than a message can is left to the sweeper.
func (w Worker) nudge(ctx context.Context, d Delivery) error {
	wait := d.NextAt.Sub(w.Now())
	if wait > longestNudge {
		return nil
	}
	if err := w.Nudger.NudgeDelivery(ctx, d.Tenant, d.ID, d.SubscriptionID, wait); err != nil {
		return fmt.Errorf("nudge delivery: %w", err)
	}
	return nil
}

func (w Worker) settle(ctx context.Context, d Delivery, record Attempt) error {
	// The POST has happened; a deadline that passes now must not hide what came of it.
	err := w.Store.SettleDelivery(context.WithoutCancel(ctx), d, record)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("settle delivery: %w", err)
	}
	return nil
}

func (w Worker) park(ctx context.Context, d Delivery) error {
	if err := w.Store.ParkDelivery(ctx, d); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("park delivery: %w", err)
	}
	return nil
}
