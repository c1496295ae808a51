package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// schedule returns the delay before each attempt (docs/reference/deviations.md, Webhooks).
func schedule() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// TestFailingReceiverReceivesTenAttempts checks that a receiver that always fails gets ten attempts. Short waits use
// the queue's delay; long waits use the due index. A message that arrives a millisecond early has no effect.
func TestFailingReceiverReceivesTenAttempts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ jitter, factor float64 }{
		"at the earliest": {0, 0.8}, "on average": {0.5, 1}, "at the latest": {0.999999999999, 1.2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.jitter = test.jitter
				w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 503, Body: []byte("no")}, nil }
				w.subscribe(t, "s1")
				expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
				w.followSchedule(t)

				if len(w.posts) != len(schedule()) {
					t.Fatalf("%d attempts, want %d", len(w.posts), len(schedule()))
				}
				for i, wait := range schedule() {
					want := time.Duration(float64(wait) * test.factor)
					got := w.posts[max(i, 0)].at.Sub(w.posts[max(i-1, 0)].at)
					if (got - want).Abs() > time.Millisecond {
						t.Errorf("attempt %d came %v after the one before, want %v", i+1, got, want)
					}
					if w.posts[i].body != w.posts[0].body || w.posts[i].header["Webhook-Id"] != w.posts[0].header["Webhook-Id"] {
						t.Errorf("attempt %d tells something else", i+1)
					}
				}
			})
		})
	}
}

// followSchedule simulates the queue and the sweeper until no delivery is due.
func (w *world) followSchedule(t *testing.T) {
	t.Helper()
	for range 20 {
		rows := w.due(t)
		if len(rows) == 0 {
			return
		}
		next := rows[0].At
		if n := len(w.queued); n > 0 {
			next = time.Now().Add(w.queued[n-1].delay)
			if want := next.Add(30 * time.Second); !rows[0].At.Equal(want.Truncate(time.Microsecond)) {
				t.Errorf("sent for %v, the sweeper steps in at %v, want %v", next, rows[0].At, want)
			}
			w.queued = nil
		}
		before := len(w.posts)
		sleepUntil(next.Add(-time.Millisecond))
		expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, rows[0].ID))
		if len(w.posts) != before {
			t.Fatalf("attempt %d came before its time", len(w.posts))
		}
		sleepUntil(next)
		expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, rows[0].ID))
		if len(w.posts) != before+1 {
			t.Fatalf("no attempt at its time, after %d", before)
		}
	}
	t.Fatal("the schedule does not end")
}

func TestSuccessfulDeliveryIsNotRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(_ string, nth int) (webhook.Answer, error) {
			return webhook.Answer{Status: []int{500, 302, 404, 204}[nth-1]}, nil // a redirect counts as a failure
		}
		w.subscribe(t, "s1")
		event := w.emit(t)
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		id := w.due(t)[0].ID
		w.followSchedule(t)
		if len(w.posts) != 4 {
			t.Errorf("%d attempts, want 4", len(w.posts))
		}
		// These messages are late or duplicated and must have no effect.
		for range 3 {
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
			expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, id))
			sleepUntil(time.Now().Add(time.Hour))
		}
		if len(w.posts) != 4 || len(w.due(t)) != 0 {
			t.Errorf("%d attempts and %v due after late messages, want 4 and none", len(w.posts), w.due(t))
		}
	})
}

func TestDuplicateMessagesResultInOneDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(string, int) (webhook.Answer, error) {
			sleepUntil(time.Now().Add(10 * time.Second)) // gives all deliveries time to run concurrently
			return webhook.Answer{Status: 500}, nil
		}
		for _, id := range []string{"s1", "s2", "s3"} {
			w.subscribe(t, id)
		}
		event := w.emit(t)
		together(t, 8, func() error { return w.worker().DeliverEvent(t.Context(), tenant, event.ID) })
		if got := w.receivers(); !slices.Equal(got,
			[]string{"https://s1.example/hook", "https://s2.example/hook", "https://s3.example/hook"}) {
			t.Errorf("first attempts went to %q, want one to each", got)
		}
		rows := w.due(t)
		sleepUntil(time.Now().Add(5 * time.Second))
		together(t, 8, func() error { return w.worker().RetryDelivery(t.Context(), tenant, rows[0].ID) })
		if len(w.posts) != 4 {
			t.Errorf("%d attempts after 8 messages for one delivery, want 4", len(w.posts))
		}
	})
}

func together(t *testing.T, n int, call func() error) {
	t.Helper()
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func (w *world) receivers() []string {
	urls := make([]string, 0, len(w.posts))
	for _, p := range w.posts {
		urls = append(urls, p.url)
	}
	slices.Sort(urls)
	return urls
}

func TestBlockedURLIsAttemptedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Failure: webhook.FailedBlocked}, nil }
		w.subscribe(t, "s1")
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		if rows := w.due(t); len(rows) != 0 || len(w.queued) != 0 || len(w.posts) != 1 {
			t.Errorf("%d attempts, messages %v, due %v; want one attempt and nothing more", len(w.posts), w.queued, rows)
		}
	})
}

func TestDeliverEventSkipsUnsubscribedReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		narrow := webhook.Subscription{
			ID: "s1", Tenant: tenant, URL: "https://s1.example",
			Types: []webhook.Type{webhook.ExportFailed},
		}
		expect.NoError(t, w.store.CreateSubscription(t.Context(), narrow))
		off := webhook.Subscription{
			ID: "s2", Tenant: tenant, URL: "https://s2.example", Types: webhook.Required(),
			Disabled: true,
		}
		expect.NoError(t, w.store.CreateSubscription(t.Context(), off))
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		if rows := w.due(t); len(w.posts) != 0 || len(rows) != 0 {
			t.Errorf("%d attempts, due %v; want none", len(w.posts), rows)
		}
	})
}

// changed is a store whose subscriptions have changed since the fan-out.
type changed struct {
	webhook.Store

	now []webhook.Subscription
}

func (c changed) Subscriptions(context.Context, org.Tenant) ([]webhook.Subscription, error) {
	return c.now, nil
}

func TestRetryEndsDeliveryWhenSubscriptionIsInactive(t *testing.T) {
	t.Parallel()
	tests := map[string]func(s webhook.Subscription) []webhook.Subscription{
		"removed": func(webhook.Subscription) []webhook.Subscription { return nil },
		"switched off": func(s webhook.Subscription) []webhook.Subscription {
			s.Disabled = true
			return []webhook.Subscription{s}
		},
		"narrowed": func(s webhook.Subscription) []webhook.Subscription {
			s.Types = []webhook.Type{webhook.ExportFailed}
			return []webhook.Subscription{s}
		},
		"replaced": func(s webhook.Subscription) []webhook.Subscription {
			s.ID = "s2"
			return []webhook.Subscription{s}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Failure: webhook.FailedTLS}, nil }
				subscription := w.subscribe(t, "s1")
				expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emit(t).ID))
				id := w.due(t)[0].ID
				sleepUntil(time.Now().Add(5 * time.Second))
				worker := w.worker()
				worker.Store = changed{Store: w.store, now: change(subscription)}
				expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, id))
				if rows := w.due(t); len(w.posts) != 1 || len(rows) != 0 {
					t.Errorf("%d attempts, due %v; want one and none", len(w.posts), rows)
				}
			})
		})
	}
}

func TestSlowReceiversAreCalledConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const receivers = 25 // the maximum number of subscriptions
		for i := range receivers {
			w.subscribe(t, fmt.Sprint("s", i))
		}
		w.answer = func(string, int) (webhook.Answer, error) {
			sleepUntil(time.Now().Add(30 * time.Second))
			return webhook.Answer{Failure: webhook.FailedTimeout}, nil
		}
		event := w.emit(t)
		started := time.Now()
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		if took := time.Since(started); took != 30*time.Second || len(w.posts) != receivers || len(w.queued) != receivers {
			t.Errorf("%d posts and %d messages in %v, want %d of each in 30 s", len(w.posts), len(w.queued), took, receivers)
		}
	})
}

func TestFirstDeliveryMakesFiveAWSCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := w.create(t, webhook.Draft{SigningKey: true, Headers: map[string]string{"X-Key": "k"}})
		s, _, err := w.editor().Rotate(t.Context(), s, false)
		expect.NoError(t, err)
		expect.NoError(t, w.store.SaveSubscription(t.Context(), s))
		event := w.emit(t)
		w.restart()
		w.calls = nil
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 200, Body: []byte("ok")}, nil }
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		want := []string{
			"dynamodb GetItem", "dynamodb Query", "dynamodb TransactWriteItems", "kms Decrypt", "dynamodb TransactWriteItems",
		}
		if diff := cmp.Diff(want, w.calls); diff != "" || len(w.posts) != 1 {
			t.Errorf("%d attempts with these calls (-want +got):\n%s", len(w.posts), diff)
		}
	})
}

func TestDeliverEventReturnsErrorForMissingEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		event := w.emit(t)
		for _, foreign := range []org.Tenant{{Mode: org.Live, OrgID: tenant.OrgID}, {Mode: org.Test, OrgID: "0b"}} {
			if err := w.worker().DeliverEvent(t.Context(), foreign, event.ID); err == nil {
				t.Errorf("the event of another tenant was delivered for %v", foreign)
			}
		}
	})
}
