package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Replays looks up deliveries and restarts them.
type Replays interface {
	// Delivery reads a delivery with a consistent read.
	Delivery(ctx context.Context, tenant org.Tenant, id string) (Delivery, error)
	// DeliveriesMade returns the IDs of at most limit deliveries created in the interval [from, to), oldest first. It
	// also returns the time from which more deliveries may exist, or zero if no more exist.
	DeliveriesMade(ctx context.Context, tenant org.Tenant, from, to time.Time, limit int) (ids []string,
		next time.Time, err error)
	// RestartDelivery replaces a delivery with d, which is scheduled. It returns fault.Conflict if the stored delivery
	// is in flight or has changed since it was read.
	RestartDelivery(ctx context.Context, d Delivery) error
}

// Replayer resends deliveries that have ended or wait for a retry. The event keeps its ID and bytes, the schedule
// restarts, and new attempts are appended to the log. Replays count towards the endpoint's rate like all other
// attempts.
type Replayer struct {
	Store Replays
	Queue Queue
	Now   func() time.Time
}

// replayAtOnce is the maximum number of replays in a call, which limits the call's duration.
const replayAtOnce = 100

// Replayed is the result of a replay.
type Replayed struct {
	Deliveries int
	Next       time.Time // starting point for the next call; zero if no deliveries remain
}

// One replays a single delivery at once, even if its next attempt is scheduled. It returns fault.NotFound for an
// unknown delivery, or fault.Conflict while an attempt is running.
func (r Replayer) One(ctx context.Context, tenant org.Tenant, id string) error {
	d, err := r.Store.Delivery(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("read delivery: %w", err)
	}
	return r.restart(ctx, d)
}

// FailedSince replays a subscription's failed and held deliveries created since the given time, including deliveries
// that are waiting for a retry.
func (r Replayer) FailedSince(ctx context.Context, tenant org.Tenant, subscriptionID string,
	since time.Time,
) (Replayed, error) {
	return r.each(ctx, tenant, since, r.Now(), failed(subscriptionID), r.restart)
}

// CountFailedSince returns the number of deliveries that FailedSince would replay.
func (r Replayer) CountFailedSince(ctx context.Context, tenant org.Tenant, subscriptionID string,
	since time.Time,
) (Replayed, error) {
	count := func(context.Context, Delivery) error { return nil }
	return r.each(ctx, tenant, since, r.Now(), failed(subscriptionID), count)
}

func failed(subscriptionID string) func(Delivery) bool {
	return func(d Delivery) bool {
		hasFailed := d.Status == Exhausted || d.Status == Held || d.isRetry()
		return d.SubscriptionID == subscriptionID && hasFailed
	}
}

// Range replays a subscription's deliveries that were created in the interval [from, to), regardless of their outcome.
func (r Replayer) Range(ctx context.Context, tenant org.Tenant, subscriptionID string, from,
	to time.Time,
) (Replayed, error) {
	return r.each(ctx, tenant, from, to, func(d Delivery) bool {
		return d.SubscriptionID == subscriptionID && (d.isOver() || d.isRetry())
	}, r.restart)
}

func (r Replayer) each(ctx context.Context, tenant org.Tenant, from, to time.Time,
	wanted func(Delivery) bool, do func(context.Context, Delivery) error,
) (Replayed, error) {
	ids, next, err := r.Store.DeliveriesMade(ctx, tenant, from, to, replayAtOnce)
	if err != nil {
		return Replayed{}, fmt.Errorf("list deliveries: %w", err)
	}
	done := Replayed{Next: next}
	for _, id := range ids {
		d, err := r.Store.Delivery(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) {
			continue // the index entry is out of date
		}
		if err != nil {
			return done, fmt.Errorf("read delivery: %w", err)
		}
		if !wanted(d) {
			continue
		}
		err = do(ctx, d)
		if err == nil {
			done.Deliveries++
		} else if !errors.Is(err, fault.Conflict) {
			return done, err
		}
	}
	return done, nil
}

func (d *Delivery) isOver() bool { return d.Status != Scheduled && d.Status != InFlight }

// isRetry reports whether a delivery waits for another attempt after a failed one.
func (d *Delivery) isRetry() bool { return d.Status == Scheduled && d.Attempt > 1 }

func (r Replayer) restart(ctx context.Context, d Delivery) error {
	if d.Status == InFlight {
		return fault.New(fault.Conflict, fault.CodeConflict, "An attempt is running. Wait until it ends.")
	}
	now := r.Now()
	d.Attempt, d.Trigger, d.Paced, d.Slowly = 1, ByHand, false, false
	d.schedule(now, now)
	if err := r.Store.RestartDelivery(ctx, d); err != nil {
		return fmt.Errorf("restart delivery: %w", err)
	}
	if err := r.Queue.EnqueueDelivery(ctx, d.Tenant, d.ID, 0); err != nil {
		return fmt.Errorf("enqueue delivery: %w", err)
	}
	return nil
}
