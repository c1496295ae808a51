// Package memory keeps what the stores keep, in maps, for tests that make thousands of worlds or crash between two calls.
// Each model of a store answers as DynamoDB does: the suites of package storetest run against both. Only tests link it.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Hook runs a call's effect, or does not, or fails after it: it is how a test crashes a worker or loses an answer.
type Hook func(call string, effect func() error) error

// run makes a call, under the hook if there is one.
func (h Hook) run(call string, effect func() error) error {
	if h == nil {
		return effect()
	}
	return h(call, effect)
}

// over is an error once nothing can be asked in ctx any more.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// row addresses what one tenant has.
type row struct {
	tenant org.Tenant
	id     string
}

// missing is what a read of nothing answers.
func missing() error { return fault.Missing("There is no such record.") }

// Webhooks keeps events, deliveries, attempts and subscriptions with their health. The zero value is empty and ready; it is
// safe for concurrent use.
type Webhooks struct {
	Around Hook

	mu            sync.Mutex
	events        map[row]webhook.Event
	deliveries    map[row]webhook.Delivery
	attempts      map[row][]webhook.Attempt
	subscriptions map[row]webhook.Subscription
}

// Event implements webhook.Store.
func (m *Webhooks) Event(_ context.Context, tenant org.Tenant, id string) (event webhook.Event, err error) {
	err = m.do("Event", func() error {
		found, ok := m.events[row{tenant, id}]
		if event = found; !ok {
			return missing()
		}
		return nil
	})
	return event, err
}

// CreateEvent stores an event that is to be fanned out.
func (m *Webhooks) CreateEvent(_ context.Context, event webhook.Event) error {
	return m.do("CreateEvent", func() error {
		at := row{event.Tenant, event.ID}
		if _, taken := m.events[at]; taken {
			return fault.Stale()
		}
		put(&m.events, at, event)
		return nil
	})
}

// FanOut implements webhook.Store.
func (m *Webhooks) FanOut(_ context.Context, event webhook.Event, deliveries []webhook.Delivery) error {
	return m.do("FanOut", func() error {
		stored, ok := m.events[row{event.Tenant, event.ID}]
		if !ok || stored.FannedOut {
			return fault.Stale()
		}
		for _, d := range deliveries {
			if _, taken := m.deliveries[row{d.Tenant, d.ID}]; taken {
				return fault.Stale()
			}
		}
		for _, d := range deliveries {
			put(&m.deliveries, row{d.Tenant, d.ID}, d)
		}
		stored.FannedOut = true
		put(&m.events, row{event.Tenant, event.ID}, stored)
		return nil
	})
}

// ClaimDelivery implements webhook.Store.
func (m *Webhooks) ClaimDelivery(
	_ context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time,
) (claimed webhook.Delivery, err error) {
	err = m.do("ClaimDelivery", func() error {
		d := m.deliveries[row{tenant, id}]
		isDue := d.Status == webhook.Scheduled && !d.NextAt.After(now) || d.Status == webhook.InFlight && d.LeaseUntil.Before(now)
		if !isDue {
			return fault.Stale()
		}
		d.Status, d.LeaseUntil, d.DueAt = webhook.InFlight, leaseUntil, leaseUntil
		d.Fence++
		put(&m.deliveries, row{tenant, id}, d)
		claimed = d
		return nil
	})
	return claimed, err
}

// RecordAttempt implements webhook.Store.
func (m *Webhooks) RecordAttempt(_ context.Context, d webhook.Delivery, a webhook.Attempt) error {
	return m.do("RecordAttempt", func() error {
		if err := m.unclaim(d); err != nil {
			return err
		}
		at := row{d.Tenant, d.ID}
		put(&m.attempts, at, append(m.attempts[at], a))
		return nil
	})
}

// ParkDelivery implements webhook.Store.
func (m *Webhooks) ParkDelivery(_ context.Context, d webhook.Delivery) error {
	return m.do("ParkDelivery", func() error { return m.unclaim(d) })
}

// Delivery implements webhook.Replays.
func (m *Webhooks) Delivery(_ context.Context, tenant org.Tenant, id string) (d webhook.Delivery, err error) {
	err = m.do("Delivery", func() error {
		found, ok := m.deliveries[row{tenant, id}]
		if d = found; !ok {
			return missing()
		}
		return nil
	})
	return d, err
}

// Deliveries lists a tenant's deliveries, by id. It is no call, and neither are Attempts and Events.
func (m *Webhooks) Deliveries(tenant org.Tenant) []webhook.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	return of(m.deliveries, tenant)
}

// Attempts lists the attempts of a delivery, in the order in which they were recorded.
func (m *Webhooks) Attempts(tenant org.Tenant, deliveryID string) []webhook.Attempt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.attempts[row{tenant, deliveryID}])
}

// Events lists a tenant's events, by id.
func (m *Webhooks) Events(tenant org.Tenant) []webhook.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return of(m.events, tenant)
}

// unclaim ends the claim d.Fence.
func (m *Webhooks) unclaim(d webhook.Delivery) error {
	stored := m.deliveries[row{d.Tenant, d.ID}]
	if stored.Fence != d.Fence || stored.Status != webhook.InFlight {
		return fault.Stale()
	}
	stored.Status, stored.Attempt, stored.Trigger = d.Status, d.Attempt, d.Trigger
	stored.NextAt, stored.DueAt, stored.LeaseUntil, stored.Paced, stored.Slowly = d.NextAt, d.DueAt, time.Time{}, d.Paced, d.Slowly
	put(&m.deliveries, row{d.Tenant, d.ID}, stored)
	return nil
}

// do runs one call, alone.
func (m *Webhooks) do(call string, effect func() error) error {
	return m.Around.run(call, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return effect()
	})
}

// put stores into a map that may not be there yet.
func put[K comparable, V any](into *map[K]V, at K, value V) {
	if *into == nil {
		*into = map[K]V{}
	}
	(*into)[at] = value
}

// of lists what a tenant has, by id.
func of[V any](all map[row]V, tenant org.Tenant) []V {
	var found []V
	for _, at := range slices.SortedFunc(maps.Keys(all), func(a, b row) int { return cmp.Compare(a.id, b.id) }) {
		if at.tenant == tenant {
			found = append(found, all[at])
		}
	}
	return found
}
