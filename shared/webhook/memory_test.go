package webhook_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// memory is the stores of a worker, kept in maps, whose calls can be made to fail before or after they took effect.
type memory struct {
	events        map[string]webhook.Event
	deliveries    map[string]webhook.Delivery
	attempts      map[string][]webhook.Attempt
	subscriptions []webhook.Subscription

	crash func() (before, after bool)
}

var errCrash = errors.New("the worker crashed")

func (m *memory) Event(_ context.Context, _ org.Tenant, id string) (webhook.Event, error) {
	return m.events[id], m.do(func() error { return nil })
}

func (m *memory) Subscriptions(context.Context, org.Tenant) ([]webhook.Subscription, error) {
	return slices.Clone(m.subscriptions), m.do(func() error { return nil })
}

func (m *memory) FanOut(_ context.Context, event webhook.Event, deliveries []webhook.Delivery) error {
	return m.do(func() error {
		stored := m.events[event.ID]
		if stored.Settled {
			return fault.Stale()
		}
		stored.Settled = true
		m.events[event.ID] = stored
		for _, d := range deliveries {
			m.deliveries[d.ID] = d
		}
		return nil
	})
}

func (m *memory) ClaimDelivery(_ context.Context, _ org.Tenant, id string, now, leaseUntil time.Time) (webhook.Delivery, error) {
	var claimed webhook.Delivery
	err := m.do(func() error {
		d, ok := m.deliveries[id]
		isDue := d.Status == webhook.Scheduled && !d.NextAt.After(now) || d.Status == webhook.InFlight && d.LeaseUntil.Before(now)
		if !ok || !isDue {
			return fault.Stale()
		}
		d.Status, d.LeaseUntil, d.DueAt = webhook.InFlight, leaseUntil, leaseUntil
		d.Fence++
		m.deliveries[id], claimed = d, d
		return nil
	})
	return claimed, err
}

func (m *memory) SettleDelivery(_ context.Context, d webhook.Delivery, a webhook.Attempt) error {
	return m.do(func() error {
		if err := m.unclaim(d); err != nil {
			return err
		}
		m.attempts[d.ID] = append(m.attempts[d.ID], a)
		return nil
	})
}

func (m *memory) ParkDelivery(_ context.Context, d webhook.Delivery) error {
	return m.do(func() error { return m.unclaim(d) })
}

func (m *memory) CountFailure(_ context.Context, _ org.Tenant, id string, at time.Time) (webhook.Health, error) {
	h := &m.subscription(id).Health
	err := m.do(func() error {
		if h.Failures++; h.Failures == 1 {
			h.FailingSince = at
		}
		h.LastFailure = at
		return nil
	})
	return *h, err
}

func (m *memory) ReviseHealth(_ context.Context, _ org.Tenant, id string, seen, next webhook.Health) error {
	return m.do(func() error {
		h := &m.subscription(id).Health
		if h.Failures == 0 || h.Warned != seen.Warned || h.Trips != seen.Trips || !h.OpenUntil.Equal(seen.OpenUntil) {
			return fault.Stale()
		}
		h.Warned, h.Trips, h.OpenUntil = next.Warned, next.Trips, next.OpenUntil
		return nil
	})
}

func (m *memory) ClearFailures(_ context.Context, _ org.Tenant, id string, at time.Time) error {
	return m.do(func() error {
		h := &m.subscription(id).Health
		if h.Failures == 0 {
			return fault.Stale()
		}
		*h = webhook.Health{LastSuccess: at, NextSlot: h.NextSlot}
		return nil
	})
}

func (m *memory) ReserveSlot(_ context.Context, _ org.Tenant, id string, _, now time.Time, interval time.Duration) (time.Time, error) {
	var slot time.Time
	err := m.do(func() error {
		h := &m.subscription(id).Health
		slot = now
		if h.NextSlot.After(now) {
			slot = h.NextSlot
		}
		h.NextSlot = slot.Add(interval)
		return nil
	})
	return slot, err
}

func (m *memory) DisableSubscription(_ context.Context, _ org.Tenant, id string, reason webhook.Reason, at time.Time) error {
	return m.do(func() error {
		s := m.subscription(id)
		if s.Disabled {
			return fault.Stale()
		}
		s.Disabled, s.DisabledFor, s.DisabledAt = true, reason, at
		return nil
	})
}

func (m *memory) Notify(context.Context, webhook.Notice) error {
	return m.do(func() error { return nil })
}

// do runs a call's effect, unless the worker crashes before it.
func (m *memory) do(effect func() error) error {
	before, after := m.crash()
	if before {
		return errCrash
	}
	if err := effect(); err != nil {
		return err
	}
	if after {
		return errCrash
	}
	return nil
}

func (m *memory) unclaim(d webhook.Delivery) error {
	if stored := m.deliveries[d.ID]; stored.Fence != d.Fence || stored.Status != webhook.InFlight {
		return fault.Stale()
	}
	m.deliveries[d.ID] = d
	return nil
}

func (m *memory) subscription(id string) *webhook.Subscription {
	i := slices.IndexFunc(m.subscriptions, func(s webhook.Subscription) bool { return s.ID == id })
	return &m.subscriptions[i]
}
