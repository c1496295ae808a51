package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
)

// wantStatus checks which status lists contain the only delivery.
func (s stores) wantStatus(t *testing.T, want webhook.DeliveryStatus) {
	t.Helper()
	for _, status := range []webhook.DeliveryStatus{
		webhook.Scheduled, webhook.InFlight, webhook.Delivered, webhook.Exhausted, webhook.Held,
	} {
		if got := s.found(t, deliverylog.ByStatus, string(status)); (got == 1) != (status == want) {
			t.Errorf("the list %s has %d deliveries, want the delivery in the list %s", status, got, want)
		}
	}
}

func (s stores) found(t *testing.T, by, value string) int {
	t.Helper()
	places, _, err := s.deliveryLog().DeliveriesWith(t.Context(), tenant, deliverylog.Property{By: by, Value: value},
		deliverylog.Place{MadeAt: now.Add(time.Hour)}, now, 10)
	expect.NoError(t, err)
	return len(places)
}

func TestDeliveryMovesBetweenStatusListsOnEveryChange(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	s.wantStatus(t, webhook.InFlight)
	d.Status, d.NextAt, d.DueAt = webhook.Scheduled, now, now
	expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), d, webhook.Attempt{Number: 1, At: now}))
	s.wantStatus(t, webhook.Scheduled)
	d, err := s.deliveries.ClaimDelivery(t.Context(), tenant, delivID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	s.wantStatus(t, webhook.InFlight)
	d.Status, d.DueAt = webhook.Held, time.Time{}
	expect.NoError(t, s.deliveries.ParkDelivery(t.Context(), d))
	s.wantStatus(t, webhook.Held)
	d.Status, d.NextAt, d.DueAt = webhook.Scheduled, now, now
	expect.NoError(t, s.deliveries.RestartDelivery(t.Context(), d))
	s.wantStatus(t, webhook.Scheduled)
}

// TestRemoveDeliveryRemovesIndexRows covers deliveries of events with zero, one and two subjects.
func TestRemoveDeliveryRemovesIndexRows(t *testing.T) {
	t.Parallel()
	for body, subjects := range map[string][]string{
		`{}`:                                 {eventID},
		`{"data":{"org_connection_id":"c"}}`: {"c"},
		`{"data":{"org_connection_id":"c","task_id":"t"}}`: {"c", "t"},
	} {
		s := newStores(t)
		event, d := eventOf(tenant, eventID), deliveryOf(tenant)
		event.Body = []byte(body)
		expect.NoError(t, s.events.CreateDirectedEvent(t.Context(), event, d))
		lists := make([]deliverylog.Property, 0, 4)
		lists = append(lists, deliverylog.Property{By: deliverylog.ByWebhook, Value: d.SubscriptionID},
			deliverylog.Property{By: deliverylog.ByType, Value: string(event.Type)})
		for _, subject := range subjects {
			lists = append(lists, deliverylog.Property{By: deliverylog.BySubject, Value: subject})
		}
		for _, want := range []int{1, 0} {
			for _, list := range lists {
				if got := s.found(t, list.By, list.Value); got != want {
					t.Errorf("%s: the list %v has %d deliveries, want %d", body, list, got, want)
				}
			}
			expect.NoError(t, s.erasures().RemoveDelivery(t.Context(), tenant, delivID))
		}
	}
}

// TestFanOutFitsIntoTransactionWithAllWebhooks checks the maximum number of webhooks, whose rows must fit into the 100
// writes of a transaction.
func TestFanOutFitsIntoTransactionWithAllWebhooks(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	event := eventOf(tenant, eventID)
	event.Body = []byte(`{"data":{"org_connection_id":"c","task_id":"t"}}`)
	deliveries := make([]webhook.Delivery, 25)
	for i := range deliveries {
		deliveries[i] = deliveryOf(tenant)
		deliveries[i].ID = strings.Replace(delivID, "d0", fmt.Sprintf("%02d", i), 1)
	}
	expect.NoError(t, s.events.CreateEvent(t.Context(), event))
	expect.NoError(t, s.events.FanOut(t.Context(), event, deliveries))
	if got := s.found(t, deliverylog.BySubject, "t"); got != 10 {
		t.Errorf("the first page has %d deliveries, want 10", got)
	}
}
