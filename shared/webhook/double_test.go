package webhook_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"recordbridge/shared/webhook"
)

// outbox remembers the notices on their way to the store.
type outbox struct {
	t *testing.T
	n *notices
}

func (o outbox) Notify(ctx context.Context, n webhook.Notice) error {
	o.n.sent = append(o.n.sent, n)
	o.n.late = o.n.late || o.n.w.subscription(o.t).Disabled //nolint:contextcheck // the test has its own
	return o.n.w.store.Notify(ctx, n)
}

// statuses remembers the states that deliveries were given.
type statuses struct {
	webhook.Store

	told []string
}

func (s *statuses) FanOut(ctx context.Context, event webhook.Event, deliveries []webhook.Delivery) error {
	for _, d := range deliveries {
		if d.Status != webhook.InFlight {
			s.told = append(s.told, "made "+string(d.Status))
		}
	}
	return s.Store.FanOut(ctx, event, deliveries)
}

func (s *statuses) SettleDelivery(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	s.told = append(s.told, "settled "+string(d.Status))
	return s.Store.SettleDelivery(ctx, d, a)
}

func (s *statuses) ParkDelivery(ctx context.Context, d webhook.Delivery) error {
	s.told = append(s.told, "parked "+string(d.Status))
	return s.Store.ParkDelivery(ctx, d)
}

func (s *statuses) over(next webhook.Store) webhook.Store {
	s.Store = next
	return s
}

// emitNth stores one of several test events.
func (w *world) emitNth(t *testing.T, n int) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject"+strconv.Itoa(n), 0, time.Now(), webhook.Test{Hello: "world"})
	must(t, err)
	must(t, w.store.CreateEvent(t.Context(), event))
	return event
}
