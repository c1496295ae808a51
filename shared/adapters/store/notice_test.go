package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

const noticeID = "90000000-0000-4000-8000-000000000001"

func noticeOf(of org.Tenant) notice.Notice {
	return notice.Notice{
		ID: noticeID, Tenant: of, Kind: notice.KindDisabled, SubscriptionID: hookID,
		URL: "https://alder.example/hook", Rev: 3,
		PublicID: "public_test_1", Reason: webhook.ReasonFailing, Failures: 9, FailingSince: now.Add(-time.Hour), At: now,
	}
}

func TestNotifyStoresNoticeOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.notices.Notify(t.Context(), noticeOf(tenant)))
	before := s.writes.Load()
	expect.NoError(t, s.notices.Notify(t.Context(), noticeOf(tenant)))
	if s.writes.Load() != before {
		t.Error("a notice was stored twice")
	}
}

func TestClaimNoticeAllowsOneClaimUntilFinished(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	wantDue := func(want ...time.Time) {
		t.Helper()
		var got []time.Time
		for shard := range store.DueShards {
			items, err := s.timers.Due(t.Context(), shard, now.Add(1000*time.Hour))
			expect.NoError(t, err)
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
	_, err := s.notices.ClaimNotice(t.Context(), tenant, noticeID, now, now)
	expect.Conflict(t, "a claim of none", err)
	expect.NoError(t, s.notices.Notify(t.Context(), noticeOf(tenant)))
	wantDue(now.Add(30 * time.Second))
	until, later := now.Add(time.Minute), now.Add(time.Hour)
	var claimed notice.Notice
	if won := expect.Winners(t, 10, func(ctx context.Context, _ int) error {
		n, failure := s.notices.ClaimNotice(ctx, tenant, noticeID, now, until)
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
	_, err = s.notices.ClaimNotice(t.Context(), tenant, noticeID, until, until.Add(time.Minute))
	expect.Conflict(t, "a claim in the last moment of the lease", err)
	again, err := s.notices.ClaimNotice(t.Context(), tenant, noticeID, until.Add(time.Microsecond), until.Add(time.Minute))
	expect.NoError(t, err)
	expect.Conflict(t, "finishing after the lease", s.notices.FinishNotice(t.Context(), claimed, notice.Sent, later))
	expect.Conflict(t, "postponing after the lease", s.notices.PostponeNotice(t.Context(), claimed, later))
	expect.NoError(t, s.notices.PostponeNotice(t.Context(), again, later))
	wantDue(later)
	_, err = s.notices.ClaimNotice(t.Context(), tenant, noticeID, later.Add(-time.Microsecond), later)
	expect.Conflict(t, "a claim before its time", err)
	last, err := s.notices.ClaimNotice(t.Context(), tenant, noticeID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	expect.NoError(t, s.notices.FinishNotice(t.Context(), last, notice.Sent, later))
	wantDue()
	expect.Conflict(t, "finishing twice", s.notices.FinishNotice(t.Context(), last, notice.Sent, later))
	_, err = s.notices.ClaimNotice(t.Context(), tenant, noticeID, later.Add(time.Hour), later.Add(2*time.Hour))
	expect.Conflict(t, "a claim of a finished one", err)
}

func TestDisableForNoticeRequiresUnchangedSubscription(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.NoError(t, s.hooks.CreateSubscription(t.Context(), subscriptionA()))
	n := noticeOf(tenant)
	expect.Conflict(t, "another revision", s.hooks.DisableForNotice(t.Context(), n))
	n.Rev = 1
	expect.NoError(t, s.hooks.DisableForNotice(t.Context(), n))
	expect.Conflict(t, "disabling again", s.hooks.DisableForNotice(t.Context(), n))
	got, err := s.hooks.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	want := subscriptionA()
	want.Rev, want.Disabled, want.DisabledAt, want.DisabledFor = 2, true, n.At, webhook.ReasonFailing
	if diff := cmp.Diff([]webhook.Subscription{want}, got); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
}
