package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Replays finds deliveries and starts them anew.
type Replays interface {
	// Delivery reads a delivery, consistently.
	Delivery(ctx context.Context, tenant org.Tenant, id string) (Delivery, error)
	// DeliveriesMade lists ids of the deliveries that were made from one time up to, and without, another one, oldest
	// first, at most limit of them, and the time from which on there may be more; zero when there are no more.
	DeliveriesMade(ctx context.Context, tenant org.Tenant, from, to time.Time, limit int) (ids []string,
		next time.Time, err error)
	// RestartDelivery stores d, which is scheduled, over the delivery that is over; fault.Conflict when it is not.
	RestartDelivery(ctx context.Context, d Delivery) error
}

// Replayer delivers again what was delivered, failed or held. The event keeps its id and its bytes, the schedule begins
// anew, and the log goes on. The endpoint's rate holds for replays as for everything else.
type Replayer struct {
	Store Replays
	Queue Queue
	Now   func() time.Time
}

// replayAtOnce bounds what one call replays, so that a request has an end.
const replayAtOnce = 100

// Replayed is what one call has done.
type Replayed struct {
	Deliveries int
	Next       time.Time // where another call has to go on from; zero when all is done
}

// One replays a delivery, whatever has become of it. Errors are fault.NotFound, and
// fault.Conflict while it is under way.
func (r Replayer) One(ctx context.Context, tenant org.Tenant, id string) error {
	d, err := r.Store.Delivery(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("read delivery: %w", err)
	}
	return r.restart(ctx, d)
}

// FailedSince replays what was made for a subscription since a time and has failed or is held.
func (r Replayer) FailedSince(ctx context.Context, tenant org.Tenant, subscriptionID string,
	since time.Time,
) (Replayed, error) {
	return r.each(ctx, tenant, since, r.Now(), func(d Delivery) bool {
		return d.SubscriptionID == subscriptionID && (d.Status == Exhausted || d.Status == Held)
	})
}

// Range replays what was made for a subscription from one time up to, and without, another one, delivered or not.
func (r Replayer) Range(ctx context.Context, tenant org.Tenant, subscriptionID string, from,
	to time.Time,
) (Replayed, error) {
	return r.each(ctx, tenant, from, to, func(d Delivery) bool { return d.SubscriptionID == subscriptionID && d.isOver() })
}

func (r Replayer) each(ctx context.Context, tenant org.Tenant, from, to time.Time,
	wanted func(Delivery) bool,
) (Replayed, error) {
	ids, next, err := r.Store.DeliveriesMade(ctx, tenant, from, to, replayAtOnce)
	if err != nil {
		return Replayed{}, fmt.Errorf("list deliveries: %w", err)
	}
	done := Replayed{Next: next}
	for _, id := range ids {
		d, err := r.Store.Delivery(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) {
			continue // the index is a moment behind
		}
		if err != nil {
			return done, fmt.Errorf("read delivery: %w", err)
		}
		if !wanted(d) {
			continue
		}
		err = r.restart(ctx, d)
		if err == nil {
			done.Deliveries++
		} else if !errors.Is(err, fault.Conflict) {
			return done, err
		}
	}
	return done, nil
}

func (d *Delivery) isOver() bool { return d.Status != Scheduled && d.Status != InFlight }

func (r Replayer) restart(ctx context.Context, d Delivery) error {
	if !d.isOver() {
		return fault.New(fault.Conflict, fault.CodeConflict, "The delivery is still in progress. Wait until it has "+
			"ended.")
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
