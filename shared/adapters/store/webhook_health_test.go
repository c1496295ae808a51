package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
)

const hookID = "f0000000-0000-4000-8000-000000000001"

func subscriptionA() webhook.Subscription {
	return webhook.Subscription{
		ID: hookID, Tenant: tenant, URL: "https://alder.example/hook", Types: webhook.Required(),
		Secrets: []webhook.SealedSecret{{Sealed: []byte("new")}, {Sealed: []byte("old"), ExpiresAt: now}},
		Private: []byte("sealed"), PublicKey: "whpk_x", HeaderNames: []string{"Authorization"}, Rate: 7, CreatedAt: now,
	}
}

func TestSaveSubscriptionRejectsDisabledSubscription(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	sub := subscriptionA()
	expect.NoError(t, s.hooks.CreateSubscription(t.Context(), sub))
	sub.Rev, sub.URL = 1, "https://birch.example"
	expect.NoError(t, s.hooks.SaveSubscription(t.Context(), sub))
	sub.Rev = 2
	expect.NoError(t, s.hooks.DisableSubscription(t.Context(), tenant, hookID, webhook.ReasonGone, now))
	expect.Conflict(t, "saving what was read before", s.hooks.SaveSubscription(t.Context(), sub))
	sub.Rev, sub.Disabled, sub.DisabledAt, sub.DisabledFor = 3, true, now, webhook.ReasonGone
	got, err := s.hooks.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if diff := cmp.Diff([]webhook.Subscription{sub}, got); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	_, err = s.hooks.CountFailure(t.Context(), tenant, hookID, now)
	expect.NoError(t, err)
	expect.NoError(t, s.hooks.EnableSubscription(t.Context(), sub))
	expect.Conflict(t, "enabling again", s.hooks.EnableSubscription(t.Context(), sub))
	sub.Rev, sub.Disabled, sub.DisabledAt, sub.DisabledFor = 4, false, time.Time{}, ""
	got, err = s.hooks.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if diff := cmp.Diff([]webhook.Subscription{sub}, got); diff != "" {
		t.Errorf("enabled subscription (-want +got):\n%s", diff)
	}
	expect.NoError(t, s.hooks.DisableSubscription(t.Context(), tenant, hookID, webhook.ReasonAsked, now))
}

func TestDirectedEventIsNotFannedOut(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	event := eventOf(tenant, eventID)
	d := subscriptionA().Directed(event, now)
	expect.NoError(t, s.events.CreateDirectedEvent(t.Context(), event, d))
	expect.Conflict(t, "storing it twice", s.events.CreateDirectedEvent(t.Context(), event, d))
	expect.Conflict(t, "a fan-out", s.events.FanOut(t.Context(), event, nil))
	got, err := s.deliveries.ClaimDelivery(t.Context(), tenant, d.ID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	if got.SubscriptionID != hookID || got.EventID != eventID || got.Attempt != 1 || got.Trigger != webhook.ByHand {
		t.Errorf("claimed %+v", got)
	}
	var all []due.Item
	for shard := range store.DueShards {
		items, err := s.timers.Due(t.Context(), shard, now.Add(time.Hour))
		expect.NoError(t, err)
		all = append(all, items...)
	}
	if len(all) != 1 || all[0].Kind != due.Delivery {
		t.Errorf("%+v are due, want the delivery alone", all)
	}
}
