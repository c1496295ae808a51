package export_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

func TestRegisterOpensOneTaskForFiftyConcurrentRequests(t *testing.T) {
	t.Parallel()
	l, r := newRegistrar(t)
	got := make([]string, 50)
	var requests sync.WaitGroup
	for i := range got {
		requests.Go(func() {
			task, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, i%2 == 0)
			if err != nil {
				t.Error(err)
			}
			got[i] = task.ID
		})
	}
	requests.Wait()
	for _, id := range got {
		if tasks := l.All(tenant); id != l.latest(t) || len(tasks) != 1 {
			t.Fatalf("%d tasks, one answer %q, newest %q", len(tasks), id, l.latest(t))
		}
	}
}

func TestRegisterResendsOnceForFiftyConcurrentRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, r := newRegistrar(t)
		register(t, r, false)
		l.end(t, export.Success)
		<-time.After(time.Hour)
		var requests sync.WaitGroup
		for range 50 {
			requests.Go(func() {
				if _, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, false); err != nil {
					t.Error(err)
				}
			})
		}
		requests.Wait()
		if got := len(l.Events()); got != 2 {
			t.Errorf("%d events, want 2", got)
		}
	})
}

func TestRegisterReturnsUnavailableWhenEveryAttemptConflicts(t *testing.T) {
	t.Parallel()
	l, r := newRegistrar(t)
	l.conflicts = 1000
	_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, false)
	if fault.Of(err).Code != fault.CodeUnavailable || 1000-l.conflicts != retry.Tries {
		t.Errorf("got %v after %d tries, want unavailable after %d", err, 1000-l.conflicts, retry.Tries)
	}
}

func TestRegisterReturnsInternalErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Connection", "LatestTask", "Task", "OpenTask", "Event", "ResendEvent"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, r := newRegistrar(t)
				register(t, r, false)
				l.end(t, export.Success)
				<-time.After(time.Hour)
				l.broken = method
				_, err := r.Register(t.Context(), tenant, connectionID, export.Options{}, method == "OpenTask")
				if !errors.Is(err, errTrouble) || fault.Of(err).Kind != fault.Internal {
					t.Errorf("got %v, want the trouble as our own", err)
				}
			})
		})
	}
}
