package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// TestInternalErrorDoesNotCountAsAttempt checks that the worker repeats the same attempt once the lease has expired.
func TestInternalErrorDoesNotCountAsAttempt(t *testing.T) {
	t.Parallel()
	noSockets := errors.New("no sockets left")
	faults := map[string]func(w *world) (worker webhook.Worker){
		"the poster": func(w *world) webhook.Worker {
			worker := w.worker()
			worker.Poster = brokenPoster{err: noSockets}
			return worker
		},
		"the secret's key": func(w *world) webhook.Worker {
			worker := w.worker()
			worker.Secrets = brokenOpener{err: noSockets}
			return worker
		},
	}
	for name, broken := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.subscribe(t, "s1")
				event := w.emit(t)
				started := time.Now()
				if err := broken(w).DeliverEvent(t.Context(), tenant, event.ID); !errors.Is(err, noSockets) {
					t.Fatalf("error = %v, want the fault", err)
				}
				rows := w.due(t)
				if len(rows) != 1 || rows[0].Kind != due.Delivery || !rows[0].At.Equal(started.Add(lease)) {
					t.Fatalf("due %v, want the delivery at the end of its lease", rows)
				}
				sleepUntil(rows[0].At)
				expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, rows[0].ID))
				if len(w.posts) != 0 {
					t.Error("an attempt was made while the lease was alive")
				}
				sleepUntil(rows[0].At.Add(time.Second))
				w.answer = func(string, int) (webhook.Answer, error) {
					return webhook.Answer{Status: http.StatusInternalServerError}, nil
				}
				expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, rows[0].ID))
				if want := []message{{id: rows[0].ID, delay: 5 * time.Second}}; !slices.Equal(w.queued, want) {
					t.Errorf("messages = %v, want %v: the wait after the first attempt", w.queued, want)
				}
				w.followSchedule(t)
				if len(w.posts) != len(schedule()) {
					t.Errorf("%d attempts, want all %d", len(w.posts), len(schedule()))
				}
			})
		})
	}
}

type brokenPoster struct{ err error }

func (b brokenPoster) Post(context.Context, string, map[string]string, []byte) (webhook.Answer, error) {
	return webhook.Answer{}, b.err
}

type brokenOpener struct{ err error }

func (b brokenOpener) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, b.err
}

func TestLatePostDoesNotEndNewerClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		event := w.emit(t)
		w.answer = func(_ string, nth int) (webhook.Answer, error) {
			if nth > 1 {
				return webhook.Answer{Status: http.StatusOK}, nil
			}
			sleepUntil(time.Now().Add(lease + time.Second))
			expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, w.due(t)[0].ID))
			return webhook.Answer{Status: http.StatusInternalServerError}, nil
		}
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, event.ID))
		if rows := w.due(t); len(rows) != 0 || len(w.posts) != 2 {
			t.Errorf("%d attempts, due %v; want it delivered by the second", len(w.posts), rows)
		}
	})
}

func TestFailureIsStoredAfterDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		ctx, cancel := context.WithCancel(t.Context())
		w.answer = func(string, int) (webhook.Answer, error) {
			cancel()
			return webhook.Answer{Status: 500}, nil
		}
		event := w.emit(t)
		_ = w.worker().DeliverEvent(ctx, tenant, event.ID) // if the retry's message isn't sent, the sweeper resends it
		d, err := w.store.Delivery(t.Context(), tenant, webhook.DeliveryID(event.ID, "s1"))
		expect.NoError(t, err)
		if d.Attempt != 2 || d.Status != webhook.Scheduled || w.subscription(t).Health.Failures != 1 {
			t.Errorf("delivery %+v, health %+v", d, w.subscription(t).Health)
		}
	})
}
