package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// TestSlotIsReleasedOnceWithOutcome checks that the slot is released once, together with the call's outcome, even if
// the call's result can't be stored.
func TestSlotIsReleasedOnceWithOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(w *world)
		want  error // expected outcome of the call
	}{
		"an answer": {func(*world) {}, nil},
		"an answer that could not be stored": {func(w *world) {
			w.store = &flaky{Store: w.rows, rotate: []failure{{err: fault.Missing("disconnected")}}}
		}, nil},
		"an answer that lost to another worker": {func(w *world) {
			w.ehr.answer = func() error { w.replaceOnce(t); return nil }
		}, nil},
		"a refusal": {func(w *world) { w.ehr.valid = "another" }, tokens.ErrRefused},
		"a failure": {func(w *world) { w.ehr.answer = func() error { return errLost } }, errLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			c.given(w)
			_, _ = w.manager("a").Current(t.Context(), tenant, connID)
			if w.slots.taken != 0 || len(w.slots.outcomes) != 1 || !errors.Is(w.slots.outcomes[0], c.want) {
				t.Errorf("%d slots are taken after calls that ended as %v, want none after one: %v", w.slots.taken,
					w.slots.outcomes, c.want)
			}
		})
	}
}

// replaceOnce simulates another worker storing its token set before the first write.
func (w *world) replaceOnce(t *testing.T) {
	t.Helper()
	w.ehr.answer = nil
	w.replace(t, setOf(w.at.Add(time.Hour)))
}

// TestMissingAccessTokenIsReportedToLimiterAsFailure checks that a response without an access token counts as an
// endpoint failure.
func TestMissingAccessTokenIsReportedToLimiterAsFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.refresher = answering{RefreshToken: secret.New("refresh 2")}
	_, _ = w.manager("a").Current(t.Context(), tenant, connID)
	if w.slots.taken != 0 || len(w.slots.outcomes) != 1 || w.slots.outcomes[0] == nil {
		t.Errorf("%d slots are taken, outcomes %v", w.slots.taken, w.slots.outcomes)
	}
}

// TestRefreshCallTimesOutWhenSlotExpires checks that a call ends when its slot expires, so that two callers never hold
// the slot at once.
func TestRefreshCallTimesOutWhenSlotExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		w.refresher, w.slots.until = hanging{}, 20*time.Second
		started := time.Now()
		_, err := w.manager("a").Current(t.Context(), tenant, connID)
		if took := time.Since(started); !errors.Is(err, context.DeadlineExceeded) || took != 20*time.Second {
			t.Errorf("error = %v after %v, want a deadline after 20 s", err, took)
		}
	})
}

// TestRefreshDoesNotUseTokenWithoutSlot checks that a caller that can't acquire a slot uses no token and leaves the row
// unmarked.
func TestRefreshDoesNotUseTokenWithoutSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.slots.refuse = answered{unspent: true}
	if _, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, w.slots.refuse) ||
		len(w.ehr.spent) > 0 {
		t.Errorf("error = %v after %d uses, want the limiter's and none", err, len(w.ehr.spent))
	}
	w.wantFree(t)
	w.wantMarked(t, false)
}

// TestClientErrorIsNotMistakenForTokenError checks that a missing client key is not mistaken for missing tokens,
// because missing tokens would never be refreshed again.
func TestClientErrorIsNotMistakenForTokenError(t *testing.T) {
	t.Parallel()
	for _, kind := range []error{fault.Missing("No."), fault.Stale(), tokens.ErrNothingToRenew} {
		for _, unspent := range []bool{true, false} {
			w := newWorld(t, 0)
			w.ehr.answer = func() error { return fmt.Errorf("read client: %w", kindError{kind, unspent}) }
			_, err := w.manager("a").Refresh(t.Context(), tenant, connID)
			if err == nil || errors.Is(err, kind) || errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
				t.Errorf("%v (unspent: %v) became %v", kind, unspent, err)
			}
			w.wantFree(t)
			w.wantMarked(t, !unspent)
		}
	}
}

// kindError is an error of a given kind that reports whether the refresh token was used.
type kindError struct {
	error

	unspent bool
}

func (f kindError) Unspent() bool { return f.unspent }
func (f kindError) Unwrap() error { return f.error }
