package attempt_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/records"
)

// TestUnresponsiveDependenciesTimeOut checks that each call's context ends at its time limit, and that later errors are
// ignored.
func TestUnresponsiveDependenciesTimeOut(t *testing.T) {
	t.Parallel()
	silent := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("ask: %w", ctx.Err())
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		back := w.left(t, attemptID, "x")
		w.exchange = func(ctx context.Context, _ identity.Return) error { return identity.Unavailable(silent(ctx)) }
		waited := func(what string, want time.Duration, act func()) {
			t.Helper()
			began := time.Now()
			if act(); time.Since(began) != want {
				t.Errorf("%s has %v, want %v", what, time.Since(began), want)
			}
		}
		waited("a provider", 20*time.Second, func() {
			_, _ = w.completer().Complete(t.Context(), back)
		})
		const second, third = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43"
		w.exchange = nil
		w.verified(t, second, "x")
		w.locate = func(ctx context.Context, found func(tefca.Facility) error) error {
			err := silent(ctx)
			expect.NoError(t, found(facility("late", tefca.Unanswered))) // a late report is stored nevertheless
			return err
		}
		waited("a network", 75*time.Second, func() { w.look(t, second) })
		if a := w.attempt(t, second); a.Status != attempt.Located || len(w.facilities(t, second)) != 1 {
			t.Errorf("after the network's time it is %+v", a)
		}
		w.located(t, third, "x", "a")
		w.choose(t, third, "a")
		w.wait = silent
		w.read["a"] = func() (records.Content, error) { return records.Content{}, errTrouble }
		waited("a facility", 2*time.Minute, func() { w.look(t, third) })
		if f := w.facilities(t, third)["a"]; f.Outcome != attempt.HasFailed || f.Reason != attempt.ReasonUnavailable {
			t.Errorf("after its time it is %+v", f)
		}
	})
}

// TestWorkerSkipsFacilityNearDeadline checks that a run that is close to its deadline skips facilities. An interrupted
// read would leave a lease that blocks other runs.
func TestWorkerSkipsFacilityNearDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.located(t, attemptID, "x", "a")
		w.choose(t, attemptID, "a")
		for _, c := range []struct {
			left  time.Duration
			asked int
		}{{3*time.Minute - 1, 0}, {3 * time.Minute, 1}} {
			ctx, cancel := context.WithDeadline(t.Context(), w.time().Add(c.left))
			expect.NoError(t, w.worker.Process(ctx, tenant, attemptID))
			cancel()
			if a := w.attempt(t, attemptID); len(w.asked) != c.asked || c.asked == 0 && !a.DueAt.Equal(w.time()) {
				t.Errorf("with %v left %v are asked; the attempt is due at %v", c.left, w.asked, a.DueAt)
			}
		}
	})
}

func TestWorkerReadsFourFacilitiesConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, all := newWorld(t), crowd(8)
		w.located(t, attemptID, "x", all...)
		w.choose(t, attemptID, all...)
		w.wait = func(context.Context) error {
			<-time.After(time.Second)
			return nil
		}
		began := time.Now()
		if w.look(t, attemptID); len(w.kept) != len(all) || time.Since(began) != 2*time.Second {
			t.Errorf("%d are connected after %v", len(w.kept), time.Since(began))
		}
	})
}

// TestWorkerReadsSlowRecordOnce checks that other workers, such as one started by the next sweep, skip a facility while
// its record is being read.
func TestWorkerReadsSlowRecordOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.choose(t, attemptID, "a")
	w.read["a"] = func() (records.Content, error) {
		w.pass(115 * time.Second)
		return records.Content{Documents: 1}, nil
	}
	var bounded bool
	w.worker.Cache = &meddling{Cache: w, act: func() {
		w.pass(50 * time.Second)
		w.look(t, attemptID)
	}, told: func(ctx context.Context) { _, bounded = ctx.Deadline() }}
	w.look(t, attemptID)
	if f := w.facilities(t, attemptID)["a"]; f.Outcome != attempt.IsConnected || len(w.asked) != 1 || !bounded {
		t.Errorf("asked %d times, it is %+v; its keeping ends: %t", len(w.asked), f, bounded)
	}
}
