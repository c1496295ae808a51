package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// Health tests a store against webhook.Worker's requirements for subscriptions and their health. Every failure must be
// counted. Each state transition must happen once. Each rate-limit slot must be assigned to only one caller.
func Health(t *testing.T, open func(testing.TB) Webhooks) {
	t.Helper()
	run(t, open, map[string]func(subject[Webhooks]){
		"a subscription is read with its health":       readWithHealth,
		"failures are counted until a success":         countedUntilSuccess,
		"health is revised once, as it was seen":       revisedAsSeen,
		"each place in the rate is given once":         eachSlotOnce,
		"a subscription is slow until the latest mark": slowUntilLatest,
		"a subscription is disabled once":              disabledOnce,
		"a subscription and its health are a tenant's": healthOfTenant,
	})
}

func subscriptionOf(id string) webhook.Subscription {
	return webhook.Subscription{
		ID: id, Tenant: tenantA(), URL: "https://alder.example/hook", Types: webhook.Required(),
		Secrets: []webhook.SealedSecret{{Sealed: []byte("new")}, {Sealed: []byte("old"), ExpiresAt: now()}},
		Private: []byte("sealed"), PublicKey: "whpk_x", HeaderNames: []string{"Authorization"}, Rate: 7, CreatedAt: now(),
	}
}

// subscribed stores a subscription and returns it in its stored form.
func subscribed(t *testing.T, s Webhooks) webhook.Subscription {
	t.Helper()
	sub := subscriptionOf(hookID)
	expect.NoError(t, s.CreateSubscription(t.Context(), sub))
	sub.Rev = 1
	return sub
}

func wantSubscriptions(t *testing.T, s Webhooks, want ...webhook.Subscription) {
	t.Helper()
	got, err := s.Subscriptions(t.Context(), tenantA())
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
}

func readWithHealth(c subject[Webhooks]) {
	t, s := c.t, c.store
	want := subscribed(t, s)
	expect.Conflict(t, "creating it again", s.CreateSubscription(t.Context(), want))
	other := subscriptionOf("f0000000-0000-4000-8000-000000000002")
	expect.NoError(t, s.CreateSubscription(t.Context(), other))
	h, err := s.CountFailure(t.Context(), tenantA(), hookID, now())
	expect.NoError(t, err)
	other.Rev, want.Health = 1, webhook.Health{Failures: 1, FailingSince: now(), LastFailure: now()}
	if diff := cmp.Diff(want.Health, h); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
	wantSubscriptions(t, s, want, other)
}

func countedUntilSuccess(c subject[Webhooks]) {
	t, s := c.t, c.store
	sub := subscribed(t, s)
	expect.Conflict(t, "a success of one that works", s.ClearFailures(t.Context(), tenantA(), hookID, now()))
	expect.Winners(t, 20, func(ctx context.Context, _ int) error {
		_, err := s.CountFailure(ctx, tenantA(), hookID, now())
		return err
	})
	later := now().Add(time.Hour)
	h, err := s.CountFailure(t.Context(), tenantA(), hookID, later)
	expect.NoError(t, err)
	want := webhook.Health{Failures: 21, FailingSince: now(), LastFailure: later}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
	revised := want
	revised.Warned, revised.Trips, revised.OpenUntil = 1, 2, later.Add(time.Minute)
	expect.NoError(t, s.ReviseHealth(t.Context(), tenantA(), hookID, want, revised))
	_, err = s.ReserveSlot(t.Context(), tenantA(), hookID, time.Time{}, later, time.Second)
	expect.NoError(t, err)
	expect.NoError(t, s.ClearFailures(t.Context(), tenantA(), hookID, later))
	sub.Health = webhook.Health{LastSuccess: later, NextSlot: later.Add(time.Second)}
	wantSubscriptions(t, s, sub)
}

func revisedAsSeen(c subject[Webhooks]) {
	t, s := c.t, c.store
	sub := subscribed(t, s)
	expect.Conflict(t, "the health of one that works",
		s.ReviseHealth(t.Context(), tenantA(), hookID, webhook.Health{}, webhook.Health{Warned: 1}))
	seen, err := s.CountFailure(t.Context(), tenantA(), hookID, now())
	expect.NoError(t, err)
	for _, revise := range []func(h *webhook.Health){
		func(h *webhook.Health) { h.Warned = 1 },
		func(h *webhook.Health) { h.OpenUntil, h.Trips = now().Add(time.Minute), 1 },
		func(h *webhook.Health) { h.OpenUntil = now().Add(2 * time.Minute) },
		func(h *webhook.Health) { h.Warned, h.OpenUntil, h.Trips = 2, now().Add(3*time.Minute), 2 },
	} {
		next := seen
		revise(&next)
		if won := expect.Winners(t, 5, func(ctx context.Context, _ int) error {
			return s.ReviseHealth(ctx, tenantA(), hookID, seen, next)
		}); won != 1 {
			t.Errorf("revised %d times, want once", won)
		}
		sub.Health = next
		wantSubscriptions(t, s, sub)
		seen = next
	}
}

func eachSlotOnce(c subject[Webhooks]) {
	t, s := c.t, c.store
	subscribed(t, s)
	const interval = 20 * time.Millisecond
	got := make([]time.Time, 20)
	expect.Winners(t, len(got), func(ctx context.Context, i int) error {
		var err error
		// Half of the callers pass a stale value.
		got[i], err = s.ReserveSlot(ctx, tenantA(), hookID, now().Add(time.Duration(i%2)), now(), interval)
		return err
	})
	slices.SortFunc(got, time.Time.Compare)
	want := make([]time.Time, len(got))
	for i := range want {
		want[i] = now().Add(time.Duration(i) * interval)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	later := now().Add(time.Hour)
	slot, err := s.ReserveSlot(t.Context(), tenantA(), hookID, got[19], later, interval)
	expect.NoError(t, err)
	if !slot.Equal(later) {
		t.Errorf("slot after a pause = %v, want %v: what was not used is lost", slot, later)
	}
}

func slowUntilLatest(c subject[Webhooks]) {
	t, s := c.t, c.store
	sub := subscribed(t, s)
	for i, wait := range []time.Duration{time.Minute, 2 * time.Minute, 2 * time.Minute} {
		sub.Health = webhook.Health{SlowUntil: now().Add(wait), Answers: time.Second + time.Duration(i)*time.Millisecond}
		expect.NoError(t, s.MarkSlow(t.Context(), tenantA(), hookID, sub.Health.SlowUntil, sub.Health.Answers))
	}
	expect.Conflict(t, "an older mark", s.MarkSlow(t.Context(), tenantA(), hookID, now().Add(time.Minute), time.Second))
	for _, other := range others() {
		// Another tenant's call to MarkSlow must not affect this subscription.
		expect.NoError(t, s.MarkSlow(t.Context(), other, hookID, now().Add(time.Hour), time.Second))
	}
	wantSubscriptions(t, s, sub)
	_, err := s.CountFailure(t.Context(), tenantA(), hookID, now())
	expect.NoError(t, err)
	expect.NoError(t, s.ClearFailures(t.Context(), tenantA(), hookID, now()))
	sub.Health.LastSuccess = now()
	wantSubscriptions(t, s, sub) // a slow subscription is still active
}

func disabledOnce(c subject[Webhooks]) {
	t, s := c.t, c.store
	expect.Conflict(t, "disabling none", s.DisableSubscription(t.Context(), tenantA(), hookID, webhook.ReasonGone, now()))
	want := subscribed(t, s)
	if won := expect.Winners(t, 10, func(ctx context.Context, _ int) error {
		return s.DisableSubscription(ctx, tenantA(), hookID, webhook.ReasonGone, now())
	}); won != 1 {
		t.Errorf("disabled %d times, want once", won)
	}
	want.Rev, want.Disabled, want.DisabledAt, want.DisabledFor = 2, true, now(), webhook.ReasonGone
	wantSubscriptions(t, s, want)
}

func healthOfTenant(c subject[Webhooks]) {
	t, s := c.t, c.store
	want := subscribed(t, s)
	seen, err := s.CountFailure(t.Context(), tenantA(), hookID, now())
	expect.NoError(t, err)
	for _, other := range others() {
		all, err := s.Subscriptions(t.Context(), other)
		expect.NoError(t, err)
		if len(all) != 0 {
			t.Errorf("another tenant has %d subscriptions", len(all))
		}
		expect.Conflict(t, "revising as another", s.ReviseHealth(t.Context(), other, hookID, seen, webhook.Health{Warned: 1}))
		expect.Conflict(t, "clearing as another", s.ClearFailures(t.Context(), other, hookID, now()))
		expect.Conflict(t, "disabling as another",
			s.DisableSubscription(t.Context(), other, hookID, webhook.ReasonGone, now()))
	}
	want.Health = seen
	wantSubscriptions(t, s, want)
}
