package webhook_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func TestHalfOpenBreakerAdmitsOneProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		for i := range 10 {
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		<-time.After(time.Minute)
		w.answer = func(string, int) (webhook.Answer, error) {
			<-time.After(10 * time.Second)
			return webhook.Answer{Status: 200}, nil
		}
		events := make([]string, 8)
		for i := range events {
			events[i] = w.emitNth(t, 10+i).ID
		}
		n := 0
		together(t, len(events), func() error {
			w.mu.Lock()
			id := events[n]
			n++
			w.mu.Unlock()
			return w.worker().DeliverEvent(t.Context(), tenant, id)
		})
		if len(w.posts) != 11 || len(w.queued) != 7 {
			t.Errorf("%d posts and %d that wait, want one probe and 7", len(w.posts)-10, len(w.queued))
		}
		if s := w.subscription(t); s.Health.Failures != 0 {
			t.Errorf("health = %+v", s.Health)
		}
	})
}

// rival starts a probe just before each worker that tries to start one.
type rival struct{ webhook.HealthStore }

func (r rival) ReviseHealth(ctx context.Context, of org.Tenant, id string, seen, next webhook.Health) error {
	if err := r.HealthStore.ReviseHealth(ctx, of, id, seen, next); err != nil {
		return err
	}
	return r.HealthStore.ReviseHealth(ctx, of, id, seen, next)
}

func TestProbeWaitsWhenAnotherWorkerStartsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		for i := range 10 {
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		<-time.After(time.Minute)
		w.posts, w.queued = nil, nil
		worker := w.worker()
		worker.Health = rival{w.store}
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 10).ID))
		if len(w.posts) != 0 || len(w.queued) != 1 {
			t.Errorf("%d posts and %d messages, want a delivery that waits", len(w.posts), len(w.queued))
		}
	})
}
