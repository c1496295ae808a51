package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func batches(t *testing.T, s stores) store.EventBatches {
	t.Helper()
	db, ok := s.work.DB.(store.EventDB)
	if !ok {
		t.Fatal("the client reads no batches")
	}
	return store.EventBatches{Rows: s.events, Log: store.EventLog{DB: db, Table: s.work.Table}}
}

func TestEventsReadsEachEventWithinItsTenant(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	other := org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}
	stored := webhook.Event{
		ID: "e0000000-0000-4000-8000-000000000001", Tenant: tenant, Type: webhook.TestEvent,
		Body: []byte(`{}`), CreatedAt: now,
	}
	expect.NoError(t, s.events.CreateEvent(t.Context(), stored))
	own := webhook.Reference{Tenant: tenant, ID: stored.ID}
	foreign := webhook.Reference{Tenant: other, ID: stored.ID}
	missing := webhook.Reference{Tenant: tenant, ID: "e0000000-0000-4000-8000-000000000002"}
	got, err := batches(t, s).Events(t.Context(), []webhook.Reference{own, foreign, missing})
	expect.NoError(t, err)
	if diff := cmp.Diff(map[webhook.Reference]webhook.Event{own: stored}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestFanOutAllIsAtomic(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	ids := []string{"e0000000-0000-4000-8000-000000000001", "e0000000-0000-4000-8000-000000000002"}
	all := make([]webhook.FanOut, 0, len(ids))
	references := make([]webhook.Reference, 0, len(ids))
	for _, id := range ids {
		e := webhook.Event{ID: id, Tenant: tenant, Type: webhook.TestEvent, Body: []byte(`{}`), CreatedAt: now}
		expect.NoError(t, s.events.CreateEvent(t.Context(), e))
		d := webhook.Delivery{
			ID: webhook.DeliveryID(id, hookID), Tenant: tenant, EventID: id, SubscriptionID: hookID, Status: webhook.InFlight,
			Attempt: 1, Fence: 1, Trigger: webhook.ByClock, NextAt: now, LeaseUntil: now, DueAt: now, CreatedAt: now,
		}
		all = append(all, webhook.FanOut{Event: e, Deliveries: []webhook.Delivery{d}})
		references = append(references, webhook.Reference{Tenant: tenant, ID: id})
	}
	b := batches(t, s)
	expect.NoError(t, s.events.FanOut(t.Context(), all[1].Event, nil))
	expect.Conflict(t, "fanning out with an event that was", b.FanOutAll(t.Context(), all))
	events, err := b.Events(t.Context(), references)
	expect.NoError(t, err)
	if events[references[0]].FannedOut {
		t.Error("the other event was fanned out although the transaction failed")
	}
	expect.NoError(t, b.FanOutAll(t.Context(), all[:1]))
	events, err = b.Events(t.Context(), references)
	expect.NoError(t, err)
	if !events[references[0]].FannedOut {
		t.Error("the event is not fanned out")
	}
	_, err = s.deliveries.Delivery(t.Context(), tenant, all[0].Deliveries[0].ID)
	expect.NoError(t, err)
}
