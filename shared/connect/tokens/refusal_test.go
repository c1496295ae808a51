package tokens_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// wantRefusal checks that err is a refusal of version 1 with the given cause.
func wantRefusal(t *testing.T, err error, cause tokens.Cause) {
	t.Helper()
	refusal, ok := errors.AsType[*tokens.RefusalError](err)
	if !ok || !errors.Is(err, tokens.ErrRefused) ||
		*refusal != (tokens.RefusalError{Cause: cause, Version: 1, TokenEndpoint: "https://fhir.example/token"}) {
		t.Errorf("error = %v, want the refusal of version 1: %s", err, cause)
	}
}

func TestRejectionOfUnusedTokenIsInvalidGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.ehr.valid = "revoked by the patient"
	for range 2 { // a repeated refusal has the same cause
		_, err := w.manager("a").Current(t.Context(), tenant, connID)
		wantRefusal(t, err, tokens.CauseInvalidGrant)
		w.wantFree(t)
		w.wantMarked(t, false)
	}
}

func TestRefreshRetriesTokenAfterCrash(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		valid string // refresh token that the EHR accepts after the crash
		want  tokens.Cause
	}{
		"before the EHR's answer": {"refresh 1", ""},
		"after the EHR's answer":  {"refresh 2", tokens.CauseRotationLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.lease(t, "crashed")
			w.ehr.valid = test.valid
			if _, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, fault.Conflict) ||
				len(w.ehr.spent) > 0 {
				t.Errorf("under the lease: %v after %d uses, want fault.Conflict and none", err, len(w.ehr.spent))
			}
			w.at = w.at.Add(time.Minute + time.Microsecond)
			_, err := w.manager("a").Current(t.Context(), tenant, connID)
			w.wantFree(t)
			if len(w.ehr.spent) != 1 {
				t.Errorf("used %d times, want once more", len(w.ehr.spent))
			}
			w.wantMarked(t, test.want != "")
			if test.want == "" {
				expect.NoError(t, err)
				return
			}
			wantRefusal(t, err, test.want)
			_, err = w.manager("b").Current(t.Context(), tenant, connID)
			wantRefusal(t, err, test.want)
		})
	}
}

func TestRejectionCauseDependsOnPreviousOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		failure error
		want    tokens.Cause
	}{
		"an answer that was lost": {errLost, tokens.CauseRotationLost},
		"an answer that used no token": {
			fmt.Errorf("token endpoint: %w", answered{unspent: true}),
			tokens.CauseInvalidGrant,
		},
		"an answer that may have used it": {answered{}, tokens.CauseRotationLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.ehr.answer = func() error { return test.failure }
			if _, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, test.failure) ||
				errors.Is(err, tokens.ErrRefused) {
				t.Errorf("error = %v, want %v", err, test.failure)
			}
			w.wantFree(t)
			w.ehr.answer, w.ehr.valid = nil, "another"
			_, err := w.manager("b").Current(t.Context(), tenant, connID)
			wantRefusal(t, err, test.want)
		})
	}
}

// TestRefreshSkipsRequestWhenLeaseIsNearExpiry covers a lease whose remaining time is too short for the request. The
// worker must not send a request, and the row must record that the token is unused.
func TestRefreshSkipsRequestWhenLeaseIsNearExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.store = &flaky{Store: w.rows, leased: func() { w.at = w.at.Add(45 * time.Second) }}
	_, err := w.manager("a").Current(t.Context(), tenant, connID)
	if err == nil || errors.Is(err, tokens.ErrRefused) || len(w.ehr.spent) > 0 {
		t.Errorf("error = %v after %d uses, want a transient one and none", err, len(w.ehr.spent))
	}
	w.wantFree(t)
	w.wantMarked(t, false)
}

// answered is an error response from a token endpoint.
type answered struct{ unspent bool }

func (answered) Error() string   { return "invalid_client" }
func (a answered) Unspent() bool { return a.unspent }

func TestRejectionIsIgnoredWhileConcurrentWorkerRefreshes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		w.replace(t, setOf(w.at.Add(time.Hour)))
		return tokens.ErrRefused
	}
	usable, err := w.manager("a").Current(t.Context(), tenant, connID)
	version := usable.Version
	if err != nil || version != 2 {
		t.Errorf("version %d (%v), want the newer one that was stored meanwhile", version, err)
	}

	// Another worker holds the lease and has used the refresh token, but has not stored its successor yet.
	w = newWorld(t, 0)
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		w.lease(t, "b")
		return tokens.ErrRefused
	}
	_, err = w.manager("a").Current(t.Context(), tenant, connID)
	if errors.Is(err, tokens.ErrRefused) || !errors.Is(err, fault.Conflict) {
		t.Errorf("error = %v, want fault.Conflict: the connection may be alive", err)
	}
	if _, row := w.stored(t); row.LeaseOwner != "b" {
		t.Errorf("%q has the lease, want b", row.LeaseOwner)
	}
}

func TestTransientFailureIsNotRejection(t *testing.T) {
	t.Parallel()
	down := errors.New("503 Service Unavailable")
	t.Run("the EHR", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 0)
		w.ehr.answer = func() error { return down }
		_, err := w.manager("a").Current(t.Context(), tenant, connID)
		if !errors.Is(err, down) || errors.Is(err, tokens.ErrRefused) {
			t.Errorf("error = %v, want the EHR's", err)
		}
		// The lease must be released immediately.
		w.wantFree(t)
		w.ehr.answer = nil
		if got, err := w.manager("b").Current(t.Context(), tenant, connID); err != nil || got.Version != 2 {
			t.Errorf("the next: version %d (%v)", got.Version, err)
		}
	})
	for name, broken := range map[string]*flaky{
		"reading": {reads: []error{down}}, "leasing": {lease: down}, "leasing, done": {lease: down, leaseDone: true},
		"leasing lost to another": {lease: fault.Stale()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			broken.Store = w.rows
			w.store = broken
			_, err := w.manager("a").Current(t.Context(), tenant, connID)
			if err == nil || errors.Is(err, tokens.ErrRefused) || len(w.ehr.spent) > 0 {
				t.Errorf("error = %v, refresh tokens used: %q; want a transient error and none", err, w.ehr.spent)
			}
			w.wantFree(t)
			w.wantMarked(t, false)
		})
	}
}

func TestErrorsContainNoTokenOrPatient(t *testing.T) {
	t.Parallel()
	const sentinel = "c4nary"
	secretive := setOf(start)
	secretive.AccessToken, secretive.RefreshToken = secret.New("access "+sentinel), secret.New("refresh "+sentinel)
	secretive.PatientID = secret.New("patient " + sentinel)
	for name, given := range map[string]func(w *world){
		"a refusal that quotes the token": func(w *world) {
			w.ehr.answer = func() error { return fmt.Errorf("%w: refresh %s", tokens.ErrRefused, sentinel) }
		},
		"a transient failure": func(w *world) { w.ehr.answer = func() error { return errLost } },
		"a lost lease":        func(w *world) { w.store = &flaky{Store: w.rows, lease: fault.Stale()} },
		"a failed lease":      func(w *world) { w.store = &flaky{Store: w.rows, lease: errLost} },
		"a failed reading": func(w *world) {
			w.store = &flaky{Store: w.rows, reads: []error{nil, errLost}, lease: fault.Stale()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.replace(t, secretive)
			given(w)
			usable, err := w.manager("a").Current(t.Context(), tenant, connID)
			set := usable.Set
			if text := fmt.Sprintf("%v %+v %#v", err, err, set); err == nil || strings.Contains(text, sentinel) {
				t.Errorf("error = %v, want one without the token", err)
			}
		})
	}
}
