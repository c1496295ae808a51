package export_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/refresh"
	"recordbridge/shared/tokens"
)

func TestARefusalOrAnEndMakesTheTokensDueAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(*bench)
		due   bool
	}{
		"refused":                {func(b *bench) { b.desk.current = &tokens.RefusalError{Cause: tokens.CauseInvalidGrant} }, true},
		"refused on the way":     {refusedOnTheWay(tokens.ErrRefused), true},
		"revoked meanwhile":      {func(b *bench) { b.desk.current, b.desk.due = tokens.ErrRefused, fault.Stale() }, true},
		"no tokens":              {func(b *bench) { b.desk.current = fault.Missing("none") }, false},
		"nothing to renew":       {func(b *bench) { b.desk.current = tokens.ErrNothingToRenew }, true},
		"none on the way":        {refusedOnTheWay(tokens.ErrNothingToRenew), true},
		"a refresh fails":        {func(b *bench) { b.desk.current = errTrouble }, false},
		"another worker's turn":  {func(b *bench) { b.desk.current = fault.Stale() }, false},
		"the Patient is refused": {always(readPatient, answer{status: 403}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.given(b)
				b.finish(t)
				if got := slices.Equal(b.desk.dues, []string{connectionID}); got != c.due || !c.due && len(b.desk.dues) > 0 {
					t.Errorf("made due %v, want %v", b.desk.dues, c.due)
				}
				if b.store.task.Status != export.Failed {
					t.Errorf("status %s", b.store.task.Status)
				}
			})
		})
	}
}

func TestATokenEndpointThatIsBusyIsNoSetback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for range 10 { // twice as often as a failure would be taken
			b.desk.current = fmt.Errorf("refresh: %w", &refresh.BusyError{RetryAt: time.Now().Add(2 * time.Minute)})
			b.work(t, 0)
			if wait := b.nudges.tasks[len(b.nudges.tasks)-1]; wait != 2*time.Minute || b.store.task.Status != export.Pending {
				t.Fatalf("waits %v, status %s", wait, b.store.task.Status)
			}
			<-time.After(2 * time.Minute)
		}
		b.desk.current = nil
		b.finish(t)
		if b.store.task.Status != export.Success {
			t.Errorf("status %s", b.store.task.Status)
		}
	})
}

func TestATaskWhoseRefusalCannotBeNotedIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.desk.current, b.desk.due = tokens.ErrRefused, errTrouble
		if err := b.worker.Work(t.Context(), tenant, taskID, time.Time{}); !errors.Is(err, errTrouble) || b.store.task.Status != export.Pending {
			t.Fatalf("got %v, status %s", err, b.store.task.Status)
		}
		b.desk.due = nil
		<-time.After(2 * lease)
		b.finish(t)
		if b.store.task.FailureReason != export.TokenRefreshFailure || len(b.desk.dues) != 2 {
			t.Errorf("failed with %q after %d notes", b.store.task.FailureReason, len(b.desk.dues))
		}
	})
}
