package worker_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

func TestTokensBecomeDueWhenRejectedOrNotRenewable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(*bench)
		due   bool
	}{
		"refused": {
			func(b *bench) { b.tokens.current = &tokens.RefusalError{Cause: tokens.CauseInvalidGrant} },
			true,
		},
		"refused on the way": {refusedOnTheWay(tokens.ErrRefused), true},
		"revoked meanwhile": {func(b *bench) {
			b.tokens.current, b.tokens.due = tokens.ErrRefused,
				fault.Stale()
		}, true},
		"no tokens":              {func(b *bench) { b.tokens.current = fault.Missing("none") }, false},
		"nothing to renew":       {func(b *bench) { b.tokens.current = tokens.ErrNothingToRenew }, true},
		"none on the way":        {refusedOnTheWay(tokens.ErrNothingToRenew), true},
		"a refresh fails":        {func(b *bench) { b.tokens.current = errTrouble }, false},
		"another worker's turn":  {func(b *bench) { b.tokens.current = fault.Stale() }, false},
		"the Patient is refused": {always(readPatient, answer{status: 403}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.given(b)
				b.finish(t)
				if got := slices.Equal(b.tokens.dues, []string{connectionID}); got != c.due || !c.due && len(b.tokens.dues) > 0 {
					t.Errorf("made due %v, want %v", b.tokens.dues, c.due)
				}
				if b.task().Status != export.Failed {
					t.Errorf("status %s", b.task().Status)
				}
			})
		})
	}
}

// TestServerOverloadDoesNotConsumeTokenAttempts checks that the export succeeds even if a busy server delays the token
// check more often than the number of tolerated failures.
func TestServerOverloadDoesNotConsumeTokenAttempts(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]answer{
		"waited for": {status: 429, retryAfter: 7},
		"put off":    {status: 429, retryAfter: 120},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.script(findObservations, slices.Repeat([]answer{{status: 401}}, 7)...)
				asked := slices.Repeat([]answer{busy}, 4)
				if name == "put off" { // each run starts by reading the Patient
					asked = slices.Repeat([]answer{busy, {normal: true}}, 6)
				}
				b.server.script(readPatient, append(append([]answer{{normal: true}}, asked...), answer{status: 401})...)
				b.finish(t)
				if got := b.task(); got.Status != export.Success {
					t.Errorf("%s, reason %s", got.Status, got.FailureReason)
				}
			})
		})
	}
}

func TestTokenEndpointOverloadDoesNotFailTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for range 10 { // twice the number of tolerated failures
			b.tokens.current = fmt.Errorf("refresh: %w", &refresh.BusyError{RetryAt: time.Now().Add(2 * time.Minute)})
			b.work(t, 0)
			if wait := b.enqueued.tasks[len(b.enqueued.tasks)-1]; wait != 2*time.Minute+afterWait ||
				b.task().Status != export.Pending {
				t.Fatalf("waits %v, status %s", wait, b.task().Status)
			}
			<-time.After(2*time.Minute + afterWait)
		}
		b.tokens.current = nil
		b.finish(t)
		if b.task().Status != export.Success {
			t.Errorf("status %s", b.task().Status)
		}
	})
}

func TestTaskIsRetriedWhenMarkingTokensDueFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.current, b.tokens.due = tokens.ErrRefused, errTrouble
		if err := b.worker.Work(t.Context(), tenant, taskID, time.Time{}); !errors.Is(err, errTrouble) ||
			b.task().Status != export.Pending {
			t.Fatalf("got %v, status %s", err, b.task().Status)
		}
		b.tokens.due = nil
		<-time.After(2 * lease)
		b.finish(t)
		if b.task().FailureReason != export.TokenRefreshFailure || len(b.tokens.dues) != 2 {
			t.Errorf("failed with %q after %d notes", b.task().FailureReason, len(b.tokens.dues))
		}
	})
}
