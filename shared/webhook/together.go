package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/words/org"
)

// Reference identifies an event by its tenant and ID.
type Reference struct {
	Tenant org.Tenant
	ID     string
}

// BatchStore reads and writes events of several tenants in a single call.
type BatchStore interface {
	// Events reads events with a consistent read. The result omits events that no longer exist.
	Events(ctx context.Context, references []Reference) (map[Reference]Event, error)
	// FanOutAll writes several events and their deliveries atomically. A call may write at most 100 rows: one
	// for each event and WritesPerDelivery for each delivery.
	FanOutAll(ctx context.Context, all []FanOut) error
}

// FanOut holds an event and its new deliveries.
type FanOut struct {
	Event      Event
	Deliveries []Delivery
}

const (
	// longestTogether limits how long the events in a batch wait for one another. An event that takes longer to read or
	// admit is handled separately, with its own message.
	longestTogether = 500 * time.Millisecond
	// mostWrites is the maximum number of rows in a transaction. DynamoDB allows 100.
	mostWrites = 100
	// WritesPerDelivery is the maximum number of rows that a new delivery needs: its own, and an index row for each
	// subject of its event.
	WritesPerDelivery = 3
)

// PlanTogether plans the deliveries of distinct events with fewer store calls than DeliverEvent, and returns the plans
// for Deliver. If there are several events, it also stores their deliveries. An event without a plan must be passed to
// DeliverEvent, which reports its errors. An error means that no event could be read.
func (w Worker) PlanTogether(ctx context.Context, references []Reference) (map[Reference]Plan, error) {
	plans, err := w.planAll(ctx, references)
	if err != nil {
		return nil, err
	}
	var stored []Reference
	var all []FanOut
	room := mostWrites
	for _, r := range references {
		p, isPlanned := plans[r]
		writes := 1 + WritesPerDelivery*len(p.dispatches)
		if !isPlanned || p.event.FannedOut || writes > room {
			continue
		}
		room -= writes
		stored = append(stored, r)
		all = append(all, FanOut{Event: p.event, Deliveries: deliveriesOf(p.dispatches)})
	}
	if isStored := len(all) > 1 && w.Batches.FanOutAll(ctx, all) == nil; !isStored {
		return plans, nil // Deliver stores the deliveries.
	}
	for _, r := range stored {
		p := plans[r]
		p.isStored = true
		plans[r] = p
	}
	return plans, nil
}

// planAll plans the deliveries of the events that can be read and admitted in time.
func (w Worker) planAll(ctx context.Context, references []Reference) (map[Reference]Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, longestTogether)
	defer cancel()
	events, subscriptions, err := w.readAll(ctx, references)
	if err != nil {
		return nil, err
	}
	plans := make(map[Reference]Plan, len(events))
	var mu sync.Mutex
	var planning sync.WaitGroup
	for r, event := range events {
		known, isKnown := subscriptions[r.Tenant]
		if !isKnown {
			continue
		}
		planning.Go(func() {
			p, err := w.plan(ctx, event, known)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			plans[r] = p
		})
	}
	planning.Wait()
	return plans, nil
}

// readAll reads events and, concurrently, the subscriptions that can be read in time. Each tenant's subscriptions are
// read only once. If readAll returns an error, the events could not be read.
func (w Worker) readAll(
	ctx context.Context, references []Reference,
) (events map[Reference]Event, subscriptions map[org.Tenant][]Subscription, err error) {
	subscriptions = map[org.Tenant][]Subscription{}
	tenants := map[org.Tenant]bool{}
	for _, r := range references {
		tenants[r.Tenant] = true
	}
	var mu sync.Mutex
	var reading sync.WaitGroup
	for tenant := range tenants {
		reading.Go(func() {
			found, unlisted := w.Store.Subscriptions(ctx, tenant)
			if unlisted != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			subscriptions[tenant] = found
		})
	}
	events, err = w.readEvents(ctx, references)
	reading.Wait()
	if ctx.Err() != nil {
		err = nil // too late for the batch, but the events may still be readable individually
	}
	return events, subscriptions, err
}

func (w Worker) readEvents(ctx context.Context, references []Reference) (map[Reference]Event, error) {
	if len(references) == 1 {
		only := references[0]
		event, err := w.Store.Event(ctx, only.Tenant, only.ID)
		if err != nil {
			return nil, nil //nolint:nilerr // as above
		}
		return map[Reference]Event{only: event}, nil
	}
	events, err := w.Batches.Events(ctx, references)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}
