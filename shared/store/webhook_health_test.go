package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/due"
	"recordbridge/shared/org"
	"recordbridge/shared/store"
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

// health reads the one subscription's.
func (s stores) health(t *testing.T) webhook.Health {
	t.Helper()
	all, err := s.control.Subscriptions(t.Context(), tenant)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d subscriptions, want 1", len(all))
	}
	return all[0].Health
}

func TestASubscriptionIsReadWithItsHealth(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := subscriptionA()
	must(t, s.control.CreateSubscription(t.Context(), want))
	other := subscriptionA()
	other.ID = "f0000000-0000-4000-8000-000000000002"
	must(t, s.control.CreateSubscription(t.Context(), other))
	h, err := s.control.CountFailure(t.Context(), tenant, hookID, now)
	must(t, err)
	want.Rev, other.Rev, want.Health = 1, 1, webhook.Health{Failures: 1, FailingSince: now, LastFailure: now}
	if diff := cmp.Diff(want.Health, h); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
	got, err := s.control.Subscriptions(t.Context(), tenant)
	must(t, err)
	if diff := cmp.Diff([]webhook.Subscription{want, other}, got); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
}

func TestASubscriptionThatWasDisabledIsNotSavedOver(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	sub := subscriptionA()
	must(t, s.control.CreateSubscription(t.Context(), sub))
	sub.Rev, sub.URL = 1, "https://birch.example"
	must(t, s.control.SaveSubscription(t.Context(), sub))
	sub.Rev = 2
	if won := race(t, 10, func(ctx context.Context, _ int) error {
		return s.control.DisableSubscription(ctx, tenant, hookID, webhook.ReasonGone, now)
	}); won != 1 {
		t.Errorf("disabled %d times, want once", won)
	}
	wantConflict(t, "saving what was read before", s.control.SaveSubscription(t.Context(), sub))
	sub.Rev, sub.Disabled, sub.DisabledAt, sub.DisabledFor = 3, true, now, webhook.ReasonGone
	got, err := s.control.Subscriptions(t.Context(), tenant)
	must(t, err)
	if diff := cmp.Diff([]webhook.Subscription{sub}, got); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	_, err = s.control.CountFailure(t.Context(), tenant, hookID, now)
	must(t, err)
	must(t, s.control.EnableSubscription(t.Context(), sub))
	wantConflict(t, "enabling again", s.control.EnableSubscription(t.Context(), sub))
	sub.Rev, sub.Disabled, sub.DisabledAt, sub.DisabledFor = 4, false, time.Time{}, ""
	got, err = s.control.Subscriptions(t.Context(), tenant)
	must(t, err)
	if diff := cmp.Diff([]webhook.Subscription{sub}, got); diff != "" {
		t.Errorf("enabled subscription (-want +got):\n%s", diff)
	}
	must(t, s.control.DisableSubscription(t.Context(), tenant, hookID, webhook.ReasonAsked, now))
}

func TestFailuresAreCountedUntilASuccess(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.control.CreateSubscription(t.Context(), subscriptionA()))
	wantConflict(t, "a success of one that works", s.control.ClearFailures(t.Context(), tenant, hookID, now))
	race(t, 20, func(ctx context.Context, _ int) error {
		_, err := s.control.CountFailure(ctx, tenant, hookID, now)
		return err
	})
	later := now.Add(time.Hour)
	h, err := s.control.CountFailure(t.Context(), tenant, hookID, later)
	must(t, err)
	want := webhook.Health{Failures: 21, FailingSince: now, LastFailure: later}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
	_, err = s.control.ReserveSlot(t.Context(), tenant, hookID, time.Time{}, later, time.Second)
	must(t, err)
	must(t, s.control.ClearFailures(t.Context(), tenant, hookID, later))
	want = webhook.Health{LastSuccess: later, NextSlot: later.Add(time.Second)}
	if diff := cmp.Diff(want, s.health(t)); diff != "" {
		t.Errorf("health after a success (-want +got):\n%s", diff)
	}
}

func TestHealthIsRevisedOnceAsItWasSeen(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.control.CreateSubscription(t.Context(), subscriptionA()))
	wantConflict(t, "the health of one that works",
		s.control.ReviseHealth(t.Context(), tenant, hookID, webhook.Health{}, webhook.Health{Warned: 1}))
	seen, err := s.control.CountFailure(t.Context(), tenant, hookID, now)
	must(t, err)
	for _, revise := range []func(h *webhook.Health){
		func(h *webhook.Health) { h.Warned = 1 },
		func(h *webhook.Health) { h.OpenUntil, h.Trips = now.Add(time.Minute), 1 },
		func(h *webhook.Health) { h.OpenUntil = now.Add(2 * time.Minute) },
		func(h *webhook.Health) { h.Warned, h.OpenUntil, h.Trips = 2, now.Add(3*time.Minute), 2 },
	} {
		next := seen
		revise(&next)
		if won := race(t, 5, func(ctx context.Context, _ int) error {
			return s.control.ReviseHealth(ctx, tenant, hookID, seen, next)
		}); won != 1 {
			t.Errorf("revised %d times, want once", won)
		}
		if diff := cmp.Diff(next, s.health(t)); diff != "" {
			t.Errorf("health (-want +got):\n%s", diff)
		}
		seen = next
	}
}

func TestEachSlotIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.control.CreateSubscription(t.Context(), subscriptionA()))
	const interval = 20 * time.Millisecond
	got := make([]time.Time, 20)
	race(t, len(got), func(ctx context.Context, i int) error {
		var err error
		got[i], err = s.control.ReserveSlot(ctx, tenant, hookID, now.Add(time.Duration(i%2)), now, interval) // half of them guess wrong
		return err
	})
	slices.SortFunc(got, time.Time.Compare)
	want := make([]time.Time, len(got))
	for i := range want {
		want[i] = now.Add(time.Duration(i) * interval)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	later := now.Add(time.Hour)
	slot, err := s.control.ReserveSlot(t.Context(), tenant, hookID, got[19], later, interval)
	must(t, err)
	if !slot.Equal(later) {
		t.Errorf("slot after a pause = %v, want %v: what was not used is lost", slot, later)
	}
}

func TestAParkedDeliveryKeepsItsAttempt(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	next := now.Add(time.Second)
	d.Status, d.NextAt, d.DueAt, d.Paced = webhook.Scheduled, next, next, true
	must(t, s.work.ParkDelivery(t.Context(), d))
	wantConflict(t, "parking twice", s.work.ParkDelivery(t.Context(), d))
	got, err := s.work.ClaimDelivery(t.Context(), tenant, delivID, next, next.Add(time.Minute))
	must(t, err)
	want := d
	want.Status, want.Fence, want.LeaseUntil, want.DueAt = webhook.InFlight, 2, next.Add(time.Minute), next.Add(time.Minute)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed delivery (-want +got):\n%s", diff)
	}
	got.Status, got.DueAt = webhook.Held, time.Time{}
	must(t, s.work.ParkDelivery(t.Context(), got))
	_, err = s.work.ClaimDelivery(t.Context(), tenant, delivID, next.Add(time.Hour), next.Add(2*time.Hour))
	wantConflict(t, "a claim of a held one", err)
}

const noticeID = "90000000-0000-4000-8000-000000000001"

func noticeOf(of org.Tenant) webhook.Notice {
	return webhook.Notice{
		ID: noticeID, Tenant: of, Kind: webhook.NoticeDisabled, SubscriptionID: hookID, URL: "https://alder.example/hook", Rev: 3,
		PublicID: "public_test_1", Reason: webhook.ReasonFailing, Failures: 9, FailingSince: now.Add(-time.Hour), At: now,
	}
}

func TestANoticeIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.work.Notify(t.Context(), noticeOf(tenant)))
	before := s.writes.Load()
	must(t, s.work.Notify(t.Context(), noticeOf(tenant)))
	if s.writes.Load() != before {
		t.Error("a notice was stored twice")
	}
}

func TestANoticeIsClaimedByOneAndDueUntilItIsSettled(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	wantDue := func(want ...time.Time) {
		t.Helper()
		var got []time.Time
		for shard := range store.DueShards {
			items, err := s.timers.Due(t.Context(), shard, now.Add(1000*time.Hour))
			must(t, err)
			for _, i := range items {
				if i.Kind != due.Notice || i.ID != noticeID || i.Tenant != tenant {
					t.Errorf("%+v is due", i)
				}
				got = append(got, i.At)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("due (-want +got):\n%s", diff)
		}
	}
	_, err := s.work.ClaimNotice(t.Context(), tenant, noticeID, now, now)
	wantConflict(t, "a claim of none", err)
	must(t, s.work.Notify(t.Context(), noticeOf(tenant)))
	wantDue(now.Add(30 * time.Second))
	until, later := now.Add(time.Minute), now.Add(time.Hour)
	var claimed webhook.Notice
	if won := race(t, 10, func(ctx context.Context, _ int) error {
		n, failure := s.work.ClaimNotice(ctx, tenant, noticeID, now, until)
		if failure == nil {
			claimed = n
		}
		return failure
	}); won != 1 {
		t.Errorf("claimed %d times, want once", won)
	}
	want := noticeOf(tenant)
	want.Fence = 1
	if diff := cmp.Diff(want, claimed); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	wantDue(until)
	again, err := s.work.ClaimNotice(t.Context(), tenant, noticeID, until, until.Add(time.Minute))
	must(t, err)
	wantConflict(t, "settling after the lease", s.work.SettleNotice(t.Context(), claimed, webhook.NoticeSent, later))
	wantConflict(t, "postponing after the lease", s.work.PostponeNotice(t.Context(), claimed, later))
	must(t, s.work.PostponeNotice(t.Context(), again, later))
	wantDue(later)
	_, err = s.work.ClaimNotice(t.Context(), tenant, noticeID, later.Add(-time.Microsecond), later)
	wantConflict(t, "a claim before its time", err)
	last, err := s.work.ClaimNotice(t.Context(), tenant, noticeID, later, later.Add(time.Minute))
	must(t, err)
	must(t, s.work.SettleNotice(t.Context(), last, webhook.NoticeSent, later))
	wantDue()
	wantConflict(t, "settling twice", s.work.SettleNotice(t.Context(), last, webhook.NoticeSent, later))
	_, err = s.work.ClaimNotice(t.Context(), tenant, noticeID, later.Add(time.Hour), later.Add(2*time.Hour))
	wantConflict(t, "a claim of a settled one", err)
}

func TestANoticeDisablesOnlyWhatItIsAbout(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.control.CreateSubscription(t.Context(), subscriptionA()))
	n := noticeOf(tenant)
	wantConflict(t, "another revision", s.control.DisableAsTold(t.Context(), n))
	n.Rev = 1
	must(t, s.control.DisableAsTold(t.Context(), n))
	wantConflict(t, "disabling again", s.control.DisableAsTold(t.Context(), n))
	got, err := s.control.Subscriptions(t.Context(), tenant)
	must(t, err)
	want := subscriptionA()
	want.Rev, want.Disabled, want.DisabledAt, want.DisabledFor = 2, true, n.At, webhook.ReasonFailing
	if diff := cmp.Diff([]webhook.Subscription{want}, got); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
}

func TestADirectedEventIsNobodysToFanOut(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	event := eventOf(tenant, eventID)
	d := subscriptionA().Directed(event, now)
	must(t, s.work.CreateDirectedEvent(t.Context(), event, d))
	wantConflict(t, "storing it twice", s.work.CreateDirectedEvent(t.Context(), event, d))
	wantConflict(t, "a fan-out", s.work.FanOut(t.Context(), event, nil))
	got, err := s.work.ClaimDelivery(t.Context(), tenant, d.ID, now, now.Add(time.Minute))
	must(t, err)
	if got.SubscriptionID != hookID || got.EventID != eventID || got.Attempt != 1 || got.Trigger != webhook.ByHand {
		t.Errorf("claimed %+v", got)
	}
	var all []due.Item
	for shard := range store.DueShards {
		items, err := s.timers.Due(t.Context(), shard, now.Add(time.Hour))
		must(t, err)
		all = append(all, items...)
	}
	if len(all) != 1 || all[0].Kind != due.Delivery {
		t.Errorf("%+v are due, want the delivery alone", all)
	}
}
