package webhook_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

func (w *world) replayer() webhook.Replayer {
	return webhook.Replayer{Store: w.store, Queue: w, Now: time.Now}
}

// runMessages makes the worker process all queued messages.
func (w *world) runMessages(t *testing.T, worker webhook.Worker) {
	t.Helper()
	told := w.queued
	w.queued = nil
	for _, n := range told {
		expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, n.id))
	}
}

func TestReplayRestartsSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		var deliveries []webhook.Delivery
		var attempts []webhook.Attempt
		worker := w.worker()
		worker.Store = recorded{Store: w.store, deliveries: &deliveries, attempts: &attempts}
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		id := deliveries[0].ID
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 500}, nil }
		<-time.After(time.Hour)
		expect.NoError(t, w.replayer().One(t.Context(), tenant, id))
		if err := w.replayer().One(t.Context(), tenant, "other"); !errors.Is(err, fault.NotFound) {
			t.Errorf("a replay of nothing = %v, want fault.NotFound", err)
		}
		w.runMessages(t, worker)
		<-time.After(5 * time.Second)
		w.runMessages(t, worker)
		type row struct {
			Number  int
			Trigger webhook.Trigger
		}
		got := make([]row, 0, 3)
		for i, a := range attempts {
			got = append(got, row{a.Number, a.Trigger})
			if w.posts[i].body != w.posts[0].body || w.posts[i].header["Webhook-Id"] != w.posts[0].header["Webhook-Id"] {
				t.Errorf("attempt %d tells something else", i)
			}
		}
		want := []row{{1, webhook.ByClock}, {1, webhook.ByHand}, {2, webhook.ByClock}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}

func TestReplayRetriesPendingDeliveryAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		started := time.Now()
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 500}, nil }
		event := w.emit(t)
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		id := webhook.DeliveryID(event.ID, "s1")
		<-time.After(5 * time.Second)
		expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, id)) // the next retry is minutes away

		since := started.Add(-time.Minute)
		counted, err := w.replayer().CountFailedSince(t.Context(), tenant, "s1", since)
		expect.NoError(t, err)
		w.queued = nil
		replayed, err := w.replayer().FailedSince(t.Context(), tenant, "s1", since)
		expect.NoError(t, err)
		if counted != replayed || replayed.Deliveries != 1 {
			t.Errorf("counted %+v and replayed %+v, want 1 delivery each", counted, replayed)
		}
		w.answer = func(string, int) (webhook.Answer, error) {
			if again := w.replayer().One(t.Context(), tenant, id); !errors.Is(again, fault.Conflict) {
				t.Errorf("replay while an attempt is running = %v, want fault.Conflict", again)
			}
			return webhook.Answer{Status: 200}, nil
		}
		w.runMessages(t, w.worker())
		d, err := w.store.Delivery(t.Context(), tenant, id)
		expect.NoError(t, err)
		if d.Status != webhook.Delivered || len(w.posts) != 3 {
			t.Errorf("the delivery is %s after %d POSTs, want delivered after 3", d.Status, len(w.posts))
		}
	})
}

func TestReplaySelectsByTimeAndStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.subscribe(t, "s2")
		started := time.Now()
		// s1 has a failed, a delivered and a held delivery, an hour apart. s2 receives the same events.
		answers := []webhook.Answer{{Failure: webhook.FailedBlocked}, {Status: 200}, {Status: 410}}
		for i, a := range answers {
			w.answer = func(string, int) (webhook.Answer, error) { return a, nil }
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
			<-time.After(time.Hour)
		}
		check := func(what string, want int, call func() (webhook.Replayed, error)) {
			t.Helper()
			w.queued = nil
			got, err := call()
			expect.NoError(t, err)
			if got.Deliveries != want || !got.Next.IsZero() || len(w.queued) != want {
				t.Errorf("%s: %+v and %d messages, want %d", what, got, len(w.queued), want)
			}
		}
		replayer := w.replayer()
		check("failed since later", 1, func() (webhook.Replayed, error) {
			return replayer.FailedSince(t.Context(), tenant, "s1", started.Add(time.Second))
		})
		check("the same again", 0, func() (webhook.Replayed, error) {
			return replayer.FailedSince(t.Context(), tenant, "s1", started.Add(time.Second))
		})
		check("a range", 2, func() (webhook.Replayed, error) {
			return replayer.Range(t.Context(), tenant, "s2", started, started.Add(2*time.Hour))
		})
		check("another webhook", 0, func() (webhook.Replayed, error) {
			return replayer.Range(t.Context(), tenant, "s3", started, started.Add(9*time.Hour))
		})
	})
}

func TestReplayProcessesManyDeliveriesInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.answer = func(string, int) (webhook.Answer, error) {
			return webhook.Answer{Status: 400, Control: "abort-message"}, nil
		}
		const events = 130
		started := time.Now()
		for i := range events {
			event := w.emitNth(t, i)
			expect.NoError(t, w.store.FanOut(t.Context(), event, []webhook.Delivery{{
				ID: event.ID, Tenant: tenant, EventID: event.ID, SubscriptionID: "s1", Status: webhook.Held,
				Attempt: 1, Fence: 1, Trigger: webhook.ByClock, CreatedAt: time.Now(),
			}}))
			<-time.After(time.Second)
		}
		total, calls := 0, 0
		for from := started; calls < 5; calls++ {
			got, err := w.replayer().FailedSince(t.Context(), tenant, "s1", from)
			expect.NoError(t, err)
			total += got.Deliveries
			if from = got.Next; from.IsZero() {
				break
			}
		}
		if total != events || calls != 1 {
			t.Errorf("%d deliveries in %d calls, want %d in 2", total, calls+1, events)
		}
	})
}
