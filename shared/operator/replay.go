package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// ReplayDelivery delivers again, whatever has become of the delivery. Errors are fault.NotFound, and fault.Conflict while
// it is under way or its webhook is disabled.
func (o Webhooks) ReplayDelivery(ctx context.Context, tenant org.Tenant, id string) error {
	d, err := o.deps.Work.Delivery(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return fault.Missing(fmt.Sprintf("There is no delivery %q of %s.", id, ownerName(tenant))).About("delivery")
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
	return o.record(ctx, tenant, "delivery.replayed", id)
}

// ReplayFailed delivers again what was made for a webhook since a time and has failed or is held, and returns how many
// that is. Errors are fault.NotFound, and fault.Conflict for a disabled webhook.
func (o Webhooks) ReplayFailed(ctx context.Context, tenant org.Tenant, id string, since time.Time) (int, error) {
	return o.replay(ctx, tenant, id, since, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().FailedSince(ctx, tenant, id, from)
	})
}

// ReplayRange delivers again what was made for a webhook from one time up to, and without, another one, delivered or not,
// and returns how many that is. Errors are those of ReplayFailed.
func (o Webhooks) ReplayRange(ctx context.Context, tenant org.Tenant, id string, from, to time.Time) (int, error) {
	return o.replay(ctx, tenant, id, from, func(from time.Time) (webhook.Replayed, error) {
		return o.replayer().Range(ctx, tenant, id, from, to)
	})
}

// replay takes one step after another until all is done.
func (o Webhooks) replay(
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
				err = errors.Join(err, o.record(ctx, tenant, "webhook.replayed", id))
			}
			return count, err
		}
		if done.Next.IsZero() {
			return count, o.record(ctx, tenant, "webhook.replayed", id)
		}
		if !done.Next.After(from) {
			return count, fmt.Errorf("replay, after %d deliveries: too many were made at %s to get past it", count, from.Format(time.RFC3339Nano))
		}
		from = done.Next
	}
}

func (o Webhooks) replayer() webhook.Replayer {
	return webhook.Replayer{Store: o.deps.Work, Queue: o.deps.Queue, Now: o.deps.Now}
}

// Simulate sends an event with made-up data to the webhook with this id or, with an empty one, to all of a tenant's that
// are for its type, and returns the event's id. Errors are fault.NotFound, and fault.Conflict when no such webhook works
// or is for the type.
func (o Webhooks) Simulate(ctx context.Context, tenant org.Tenant, id string, t webhook.Type) (string, error) {
	now, data := o.deps.Now(), webhook.Example(t)
	if t == webhook.TestEvent {
		made, err := o.testData()
		if err != nil {
			return "", err
		}
		data = made
	}
	// Each simulation is a fact of its own.
	event, err := webhook.NewEvent(tenant, t, o.deps.NewID(), 0, now, data)
	if err != nil {
		return "", fmt.Errorf("make event: %w", err)
	}
	if id == "" {
		all, failure := o.List(ctx, tenant)
		if failure != nil {
			return "", failure
		}
		if !slices.ContainsFunc(all, func(s webhook.Subscription) bool { return !s.Disabled && slices.Contains(s.Types, t) }) {
			return "", fault.New(fault.Conflict, fault.CodeConflict, "No enabled webhook is subscribed to this event type.").About("type")
		}
		return event.ID, errors.Join(o.emit(ctx, event), o.record(ctx, tenant, "webhook.simulated", event.ID))
	}
	sub, err := o.working(ctx, tenant, id)
	if err != nil {
		return "", err
	}
	if !slices.Contains(sub.Types, t) {
		return "", fault.New(fault.Conflict, fault.CodeConflict, "The webhook is not subscribed to this event type.").About("type")
	}
	d := sub.Directed(event, now)
	if err := o.deps.Work.CreateDirectedEvent(ctx, event, d); err != nil {
		return "", fmt.Errorf("store event: %w", err)
	}
	if err := o.deps.Queue.EnqueueDelivery(ctx, tenant, d.ID, 0); err != nil {
		return "", fmt.Errorf("enqueue delivery: %w", err)
	}
	return event.ID, o.record(ctx, tenant, "webhook.simulated", event.ID)
}

// emit stores an event that no other change belongs to, and has it delivered.
func (o Webhooks) emit(ctx context.Context, event webhook.Event) error {
	if err := o.deps.Work.CreateEvent(ctx, event); err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if err := o.deps.Queue.EnqueueEvent(ctx, event.Tenant, event.ID); err != nil {
		return fmt.Errorf("enqueue event: %w", err)
	}
	return nil
}

// working reads one webhook of a tenant that is not disabled; fault.NotFound and fault.Conflict.
func (o Webhooks) working(ctx context.Context, tenant org.Tenant, id string) (webhook.Subscription, error) {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	if sub.Disabled {
		return webhook.Subscription{}, fault.New(fault.Conflict, fault.CodeConflict,
			"The webhook is disabled: what is sent to it would be held. Enable it first.")
	}
	return sub, nil
}
