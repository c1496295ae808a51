package operator

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Deliveries replays webhook deliveries and sends test events.
type Deliveries struct {
	rows   WebhookReader
	work   DeliveryRows
	queue  DeliveryQueue
	random io.Reader
	by     Journal
}

// DeliveryRows stores events and their deliveries.
type DeliveryRows interface {
	webhook.Replays
	// CreateEvent stores an event for fan-out to webhooks.
	CreateEvent(ctx context.Context, event webhook.Event) error
	// CreateDirectedEvent stores an event together with its only delivery.
	CreateDirectedEvent(ctx context.Context, event webhook.Event, d webhook.Delivery) error
}

// DeliveryQueue queues stored rows for a worker. If a queue message is lost, the sweeper queues its row again later.
type DeliveryQueue interface {
	webhook.Queue
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// NewDeliveries returns a Deliveries that generates test event data from random.
func NewDeliveries(
	rows WebhookReader, work DeliveryRows, queue DeliveryQueue, random io.Reader, by Journal,
) Deliveries {
	return Deliveries{rows: rows, work: work, queue: queue, random: random, by: by}
}

// As returns a copy of o that records actor in audit rows.
func (o Deliveries) As(actor string) Deliveries {
	o.by = o.by.As(actor)
	return o
}

// Replay sends a delivery again at once, even if its next attempt is scheduled. It returns fault.NotFound if the
// delivery does not exist. It returns fault.Conflict if an attempt is running or the webhook is disabled.
func (o Deliveries) Replay(ctx context.Context, tenant org.Tenant, id string) error {
	d, err := o.work.Delivery(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return fault.Missing(fmt.Sprintf("Delivery %q not found for %s.", id, ownerName(tenant))).About("delivery")
	}
	if err != nil {
		return fmt.Errorf("read delivery: %w", err)
	}
	if _, err := o.working(ctx, tenant, d.SubscriptionID); err != nil {
		return err
	}
	if err := o.replayer().One(ctx, tenant, id); err != nil {
		return fmt.Errorf("replay delivery: %w", err)
	}
	return o.by.record(ctx, tenant, "delivery.replayed", id)
}

// ReplayFailed resends a webhook's failed and held deliveries created since a given time, including deliveries that are
// waiting for a retry. It returns their number. It returns fault.NotFound if the webhook does not exist, or
// fault.Conflict if it is disabled.
func (o Deliveries) ReplayFailed(ctx context.Context, tenant org.Tenant, id string, since time.Time) (int, error) {
	return o.replay(ctx, tenant, id, since, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().FailedSince(ctx, tenant, id, from)
	})
}

// CountFailed returns the number of deliveries that ReplayFailed would resend, and the same errors.
func (o Deliveries) CountFailed(ctx context.Context, tenant org.Tenant, id string, since time.Time) (int, error) {
	if _, err := o.working(ctx, tenant, id); err != nil {
		return 0, err
	}
	return eachPage(since, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().CountFailedSince(ctx, tenant, id, from)
	})
}

// ReplayRange resends all of a webhook's deliveries that were created in the interval [from, to), whether or not they
// succeeded. It returns the number of deliveries and the same errors as ReplayFailed.
func (o Deliveries) ReplayRange(ctx context.Context, tenant org.Tenant, id string, from, to time.Time) (int, error) {
	return o.replay(ctx, tenant, id, from, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().Range(ctx, tenant, id, from, to)
	})
}

// Simulate sends an event with synthetic data to a webhook. If id is empty, Simulate sends the event to every webhook
// of the tenant that receives its type. Simulate returns the event's ID. It returns fault.NotFound if the tenant or the
// webhook does not exist, or fault.Conflict if no enabled webhook receives the type.
func (o Deliveries) Simulate(ctx context.Context, tenant org.Tenant, id string, t webhook.Type) (string, error) {
	now, data := o.by.now(), webhook.Example(t)
	if t == webhook.TestEvent {
		made, err := o.testData()
		if err != nil {
			return "", err
		}
		data = made
	}
	// A new ID makes each simulation a separate event.
	event, err := webhook.NewEvent(tenant, t, o.by.newID(), 0, now, data)
	if err != nil {
		return "", fmt.Errorf("make event: %w", err)
	}
	if id == "" {
		all, failure := listWebhooks(ctx, o.rows, tenant)
		if failure != nil {
			return "", failure
		}
		if !slices.ContainsFunc(all, func(s webhook.Subscription) bool {
			return !s.Disabled &&
				slices.Contains(s.Types, t)
		}) {
			return "", fault.New(fault.Conflict, fault.CodeConflict,
				"No enabled webhook is subscribed to this event type.").About("type")
		}
		return event.ID, errors.Join(o.emit(ctx, event), o.by.record(ctx, tenant, "webhook.simulated", event.ID))
	}
	sub, err := o.working(ctx, tenant, id)
	if err != nil {
		return "", err
	}
	if !slices.Contains(sub.Types, t) {
		return "", fault.New(fault.Conflict, fault.CodeConflict,
			"The webhook is not subscribed to this event type.").About("type")
	}
	d := sub.Directed(event, now)
	if err := o.work.CreateDirectedEvent(ctx, event, d); err != nil {
		return "", fmt.Errorf("store event: %w", err)
	}
	if err := o.queue.EnqueueDelivery(ctx, tenant, d.ID, 0); err != nil {
		return "", fmt.Errorf("enqueue delivery: %w", err)
	}
	return event.ID, o.by.record(ctx, tenant, "webhook.simulated", event.ID)
}

// SendTest sends a webhook.test event to all of a tenant's webhooks and returns the event's ID. It returns
// fault.NotFound if the tenant does not exist.
func (o Deliveries) SendTest(ctx context.Context, tenant org.Tenant) (string, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return "", err
	}
	data, err := o.testData()
	if err != nil {
		return "", err
	}
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, o.by.newID(), 0, o.by.now(), data)
	if err != nil {
		return "", fmt.Errorf("make test event: %w", err)
	}
	if err := o.emit(ctx, event); err != nil {
		return event.ID, err
	}
	return event.ID, o.by.record(ctx, tenant, "webhook.tested", event.ID)
}

// replay calls step until all deliveries have been resent, and records the replay in the audit log.
func (o Deliveries) replay(
	ctx context.Context, tenant org.Tenant, id string, from time.Time, step func(from time.Time) (webhook.Replayed, error),
) (int, error) {
	if _, err := o.working(ctx, tenant, id); err != nil {
		return 0, err
	}
	count, err := eachPage(from, step)
	if err != nil && count == 0 {
		return 0, err
	}
	return count, errors.Join(err, o.by.record(ctx, tenant, "webhook.replayed", id))
}

// eachPage calls step, starting at from, until no deliveries remain. It returns the total number of deliveries.
func eachPage(from time.Time, step func(from time.Time) (webhook.Replayed, error)) (count int, err error) {
	for {
		done, err := step(from)
		count += done.Deliveries
		switch {
		case err != nil:
			return count, fmt.Errorf("replay, after %d deliveries: %w", count, err)
		case done.Next.IsZero():
			return count, nil
		case !done.Next.After(from):
			return count, fmt.Errorf("replay, after %d deliveries: too many deliveries were created at %s to continue",
				count, from.Format(time.RFC3339Nano))
		}
		from = done.Next
	}
}

func (o Deliveries) replayer() webhook.Replayer {
	return webhook.Replayer{Store: o.work, Queue: o.queue, Now: o.by.now}
}

// emit stores an event and queues it for delivery. Use it for events that are not stored as part of another change.
func (o Deliveries) emit(ctx context.Context, event webhook.Event) error {
	if err := o.work.CreateEvent(ctx, event); err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if err := o.queue.EnqueueEvent(ctx, event.Tenant, event.ID); err != nil {
		return fmt.Errorf("enqueue event: %w", err)
	}
	return nil
}

// working returns an enabled webhook of a tenant. It returns fault.NotFound if the webhook does not exist, or
// fault.Conflict if it is disabled.
func (o Deliveries) working(ctx context.Context, tenant org.Tenant, id string) (webhook.Subscription, error) {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	if sub.Disabled {
		return webhook.Subscription{}, fault.New(fault.Conflict, fault.CodeConflict,
			"The webhook is disabled, so its events would be held. Enable it first.")
	}
	return sub, nil
}

// testData returns random data so that no two test events are alike.
func (o Deliveries) testData() (webhook.Test, error) {
	random := make([]byte, 16)
	if _, err := io.ReadFull(o.random, random); err != nil {
		return webhook.Test{}, fmt.Errorf("random bytes: %w", err)
	}
	return webhook.Test{Hello: "world", Random: hex.EncodeToString(random)}, nil
}
