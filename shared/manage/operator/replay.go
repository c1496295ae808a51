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
	// CreateEvent stores an event for fan-out.
	CreateEvent(ctx context.Context, event webhook.Event) error
	// CreateDirectedEvent stores an event together with its only delivery.
	CreateDirectedEvent(ctx context.Context, event webhook.Event, d webhook.Delivery) error
}

// DeliveryQueue queues stored rows for a worker. If a message is lost, the sweeper queues the row later.
type DeliveryQueue interface {
	webhook.Queue
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// NewDeliveries returns a Deliveries that derives the data of test events from random.
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

// Replay sends a delivery again, regardless of its status. It returns fault.NotFound if the delivery does not exist. It
// returns fault.Conflict while the delivery is in progress or its webhook is disabled.
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

// ReplayFailed resends the failed and held deliveries of a webhook that were created since a given time, and returns
// the number of deliveries. It returns fault.NotFound, or fault.Conflict for a disabled webhook.
func (o Deliveries) ReplayFailed(ctx context.Context, tenant org.Tenant, id string, since time.Time) (int, error) {
	return o.replay(ctx, tenant, id, since, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().FailedSince(ctx, tenant, id, from)
	})
}

// ReplayRange resends all deliveries of a webhook that were created at or after from and before to, whether or not the
// deliveries succeeded. ReplayRange returns the number of deliveries, and the same errors as ReplayFailed.
func (o Deliveries) ReplayRange(ctx context.Context, tenant org.Tenant, id string, from, to time.Time) (int, error) {
	return o.replay(ctx, tenant, id, from, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().Range(ctx, tenant, id, from, to)
	})
}

// Simulate sends an event with synthetic data to the webhook with this ID. If id is empty, Simulate sends the event to
// all of the tenant's webhooks that receive its type. Simulate returns the ID of the event. It returns fault.NotFound,
// or fault.Conflict if no enabled webhook receives the type.
func (o Deliveries) Simulate(ctx context.Context, tenant org.Tenant, id string, t webhook.Type) (string, error) {
	now, data := o.by.now(), webhook.Example(t)
	if t == webhook.TestEvent {
		made, err := o.testData()
		if err != nil {
			return "", err
		}
		data = made
	}
	// Each simulation is a separate event.
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

// SendTest sends a webhook.test event to every webhook of a tenant and returns the ID of the event. It returns
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

// replay repeats a replay step until all deliveries have been resent.
func (o Deliveries) replay(
	ctx context.Context, tenant org.Tenant, id string, from time.Time, step func(from time.Time) (webhook.Replayed, error),
) (int, error) {
	if _, err := o.working(ctx, tenant, id); err != nil {
		return 0, err
	}
	count := 0
	for {
		done, err := step(from)
		count += done.Deliveries
		if err != nil {
			err = fmt.Errorf("replay, after %d deliveries: %w", count, err)
			if count > 0 {
				err = errors.Join(err, o.by.record(ctx, tenant, "webhook.replayed", id))
			}
			return count, err
		}
		if done.Next.IsZero() {
			return count, o.by.record(ctx, tenant, "webhook.replayed", id)
		}
		if !done.Next.After(from) {
			return count, fmt.Errorf("replay, after %d deliveries: too many deliveries were created at %s to "+
				"continue", count,
				from.Format(time.RFC3339Nano))
		}
		from = done.Next
	}
}

func (o Deliveries) replayer() webhook.Replayer {
	return webhook.Replayer{Store: o.work, Queue: o.queue, Now: o.by.now}
}

// emit stores an event that is not part of another change, and queues the event for delivery.
func (o Deliveries) emit(ctx context.Context, event webhook.Event) error {
	if err := o.work.CreateEvent(ctx, event); err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if err := o.queue.EnqueueEvent(ctx, event.Tenant, event.ID); err != nil {
		return fmt.Errorf("enqueue event: %w", err)
	}
	return nil
}

// working returns a webhook of a tenant. It returns fault.NotFound if the webhook does not exist and fault.Conflict if
// the webhook is disabled.
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

// testData returns the data for a test event, which differs each time.
func (o Deliveries) testData() (webhook.Test, error) {
	random := make([]byte, 16)
	if _, err := io.ReadFull(o.random, random); err != nil {
		return webhook.Test{}, fmt.Errorf("random bytes: %w", err)
	}
	return webhook.Test{Hello: "world", Random: hex.EncodeToString(random)}, nil
}
