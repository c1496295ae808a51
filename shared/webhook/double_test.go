package webhook_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

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

func (s *statuses) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	s.told = append(s.told, "recorded "+string(d.Status))
	return s.Store.RecordAttempt(ctx, d, a)
}

func (s *statuses) ParkDelivery(ctx context.Context, d webhook.Delivery) error {
	s.told = append(s.told, "parked "+string(d.Status))
	return s.Store.ParkDelivery(ctx, d)
}

func (s *statuses) over(next webhook.Store) webhook.Store {
	s.Store = next
	return s
}

func (w *world) emitNth(t *testing.T, n int) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject"+strconv.Itoa(n), 0, time.Now(),
		webhook.Test{Hello: "world"})
	expect.NoError(t, err)
	expect.NoError(t, w.store.CreateEvent(t.Context(), event))
	return event
}
