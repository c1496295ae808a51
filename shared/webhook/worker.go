package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
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
	Store   Store
	Secrets Opener
	Poster  Poster
	Nudger  Nudger
	Now     func() time.Time
	Luck    func() float64 // in [0, 1), for jitter
	Lease   time.Duration  // longer than a POST may take
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
	now := w.Now()
	var deliveries []Delivery
	var receivers []Subscription
	for _, s := range subscriptions {
		if !s.Wants(event.Type) {
			continue
		}
		receivers = append(receivers, s)
		deliveries = append(deliveries, Delivery{
			ID: deliveryID(event, s), Tenant: tenant, EventID: event.ID, SubscriptionID: s.ID,
			Status: InFlight, Attempt: 1, Fence: 1, NextAt: now, LeaseUntil: now.Add(w.Lease), CreatedAt: now,
		})
	}
	if err := w.Store.FanOut(ctx, event, deliveries); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil
		}
		return fmt.Errorf("fan out event: %w", err)
	}
	var posts errgroup.Group
	posts.SetLimit(parallelPosts)
	for i, d := range deliveries {
		posts.Go(func() error { return w.attempt(ctx, event, receivers[i], d) })
	}
	return posts.Wait() //nolint:wrapcheck // attempt's errors come with their context
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
	for _, s := range subscriptions {
		if s.ID == d.SubscriptionID && s.Wants(event.Type) {
			return w.attempt(ctx, event, s, d)
		}
	}
	// The subscription was removed, switched off or narrowed since: nobody is to be called any more.
	d.Status = Exhausted
	return w.settle(ctx, d, Attempt{Number: d.Attempt, At: now, Failure: Unsubscribed}, time.Time{})
}

func (w Worker) attempt(ctx context.Context, event Event, s Subscription, d Delivery) error {
	secrets, err := w.openSecrets(ctx, s)
	if err != nil {
		return err
	}
	started := w.Now()
	header, err := headers(secrets, event, started)
	if err != nil {
		return err
	}
	answer, err := w.Poster.Post(ctx, s.URL, header, event.Body)
	if err != nil {
		return fmt.Errorf("post webhook: %w", err)
	}
	ended := w.Now()
	record := Attempt{
		Number: d.Attempt, At: started, Latency: ended.Sub(started),
		Status: answer.Status, Failure: answer.failure(), Body: answer.Body,
	}
	if record.Failure == "" {
		d.Status = Delivered
		return w.settle(ctx, d, record, time.Time{})
	}
	return w.scheduleNext(ctx, d, record, ended)
}

func (a Answer) failure() Failure {
	if a.Failure == "" && (a.Status < 200 || a.Status > 299) {
		return FailedStatus
	}
	return a.Failure
}

func (w Worker) scheduleNext(ctx context.Context, d Delivery, record Attempt, now time.Time) error {
	wait, more := nextDelay(d.Attempt+1, w.Luck())
	if !more || record.Failure == FailedBlocked {
		d.Status = Exhausted
		return w.settle(ctx, d, record, time.Time{})
	}
	d.Status, d.Attempt, d.NextAt = Scheduled, d.Attempt+1, now.Add(wait)
	due := d.NextAt
	if wait <= longestNudge {
		due = due.Add(sweepGrace)
	}
	if err := w.settle(ctx, d, record, due); err != nil {
		return err
	}
	if wait > longestNudge {
		return nil
	}
	if err := w.Nudger.NudgeDelivery(ctx, d.Tenant, d.ID, wait); err != nil {
		return fmt.Errorf("nudge delivery: %w", err)
	}
	return nil
}

func (w Worker) settle(ctx context.Context, d Delivery, record Attempt, due time.Time) error {
	// The POST has happened; a deadline that passes now must not hide what came of it.
	err := w.Store.SettleDelivery(context.WithoutCancel(ctx), d, record, due)
	if err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("settle delivery: %w", err)
	}
	return nil
}

func (w Worker) openSecrets(ctx context.Context, s Subscription) ([]secret.Text, error) {
	var opened []secret.Text
	for _, sealed := range s.Secrets {
		if !sealed.ExpiresAt.IsZero() && !w.Now().Before(sealed.ExpiresAt) {
			continue
		}
		plain, err := w.Secrets.Open(ctx, s.Tenant, s.SecretBinding(), sealed.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open webhook secret: %w", err)
		}
		opened = append(opened, secret.New(string(plain)))
	}
	return opened, nil
}
