package memory

import (
	"context"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// CreateSubscription stores a new subscription.
func (m *Webhooks) CreateSubscription(_ context.Context, s webhook.Subscription) error {
	return m.do("CreateSubscription", func() error {
		at := row{s.Tenant, s.ID}
		if _, taken := m.subscriptions[at]; taken {
			return fault.Stale()
		}
		s.Rev = 1
		put(&m.subscriptions, at, s)
		return nil
	})
}

// Subscriptions implements webhook.Store.
func (m *Webhooks) Subscriptions(_ context.Context, tenant org.Tenant) (all []webhook.Subscription, err error) {
	err = m.do("Subscriptions", func() error { all = of(m.subscriptions, tenant); return nil })
	return all, err
}

// CountFailure implements webhook.HealthStore.
func (m *Webhooks) CountFailure(_ context.Context, tenant org.Tenant, id string, at time.Time) (counted webhook.Health, err error) {
	err = m.change("CountFailure", tenant, id, func(s *webhook.Subscription) error {
		if s.Health.Failures++; s.Health.Failures == 1 {
			s.Health.FailingSince = at
		}
		s.Health.LastFailure = at
		counted = s.Health
		return nil
	})
	return counted, err
}

// ReviseHealth implements webhook.HealthStore.
func (m *Webhooks) ReviseHealth(_ context.Context, tenant org.Tenant, id string, seen, next webhook.Health) error {
	return m.change("ReviseHealth", tenant, id, func(s *webhook.Subscription) error {
		h := &s.Health
		if h.Failures == 0 || h.Warned != seen.Warned || h.Trips != seen.Trips || !h.OpenUntil.Equal(seen.OpenUntil) {
			return fault.Stale()
		}
		h.Warned, h.Trips = next.Warned, next.Trips
		if !next.OpenUntil.IsZero() {
			h.OpenUntil = next.OpenUntil
		}
		return nil
	})
}

// ClearFailures implements webhook.HealthStore.
func (m *Webhooks) ClearFailures(_ context.Context, tenant org.Tenant, id string, at time.Time) error {
	return m.change("ClearFailures", tenant, id, func(s *webhook.Subscription) error {
		if s.Health.Failures == 0 {
			return fault.Stale()
		}
		h := s.Health
		s.Health = webhook.Health{LastSuccess: at, NextSlot: h.NextSlot, SlowUntil: h.SlowUntil, Answers: h.Answers}
		return nil
	})
}

// ReserveSlot implements webhook.HealthStore.
func (m *Webhooks) ReserveSlot(
	_ context.Context, tenant org.Tenant, id string, _, now time.Time, interval time.Duration,
) (slot time.Time, err error) {
	err = m.change("ReserveSlot", tenant, id, func(s *webhook.Subscription) error {
		slot = now
		if s.Health.NextSlot.After(now) {
			slot = s.Health.NextSlot
		}
		s.Health.NextSlot = slot.Add(interval)
		return nil
	})
	return slot, err
}

// MarkSlow implements webhook.HealthStore.
func (m *Webhooks) MarkSlow(_ context.Context, tenant org.Tenant, id string, until time.Time, answers time.Duration) error {
	return m.change("MarkSlow", tenant, id, func(s *webhook.Subscription) error {
		if s.Health.SlowUntil.After(until) {
			return fault.Stale()
		}
		s.Health.SlowUntil, s.Health.Answers = until, answers
		return nil
	})
}

// DisableSubscription implements webhook.HealthStore.
func (m *Webhooks) DisableSubscription(_ context.Context, tenant org.Tenant, id string, reason webhook.Reason, at time.Time) error {
	return m.change("DisableSubscription", tenant, id, func(s *webhook.Subscription) error {
		if s.ID == "" || s.Disabled {
			return fault.Stale()
		}
		s.Disabled, s.DisabledFor, s.DisabledAt = true, reason, at
		s.Rev++
		return nil
	})
}

// Subscription gives one subscription as it is. It is no call.
func (m *Webhooks) Subscription(tenant org.Tenant, id string) webhook.Subscription {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.subscriptions[row{tenant, id}]
}

// change lets a call change a subscription, which it finds empty when there is none; what fails changes nothing.
func (m *Webhooks) change(call string, tenant org.Tenant, id string, change func(s *webhook.Subscription) error) error {
	return m.do(call, func() error {
		s := m.subscriptions[row{tenant, id}]
		if err := change(&s); err != nil {
			return err
		}
		if s.ID != "" {
			put(&m.subscriptions, row{tenant, id}, s)
		}
		return nil
	})
}
