package tokens_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func TestRefreshStoresRotatedTokenSetBeforeReturning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		w.store = &flaky{Store: w.rows, rotate: slices.Repeat([]failure{{err: errLost}}, 6)}
		usable, err := w.manager("a").Current(t.Context(), tenant, connID)
		set, version := usable.Set, usable.Version
		if !errors.Is(err, errLost) || errors.Is(err, tokens.ErrRefused) {
			t.Errorf("error = %v, want the store's", err)
		}
		if !set.AccessToken.Empty() || version != 0 {
			t.Errorf("version %d was handed out although it is stored nowhere", version)
		}
		w.wantMarked(t, true)
	})
}

func TestRefreshRetriesWriteOfRotatedTokenSet(t *testing.T) {
	t.Parallel()
	unread := errors.New("the read failed")
	tests := map[string]*flaky{
		"five failures":                    {rotate: slices.Repeat([]failure{{err: errLost}}, 5)},
		"a lost answer":                    {rotate: []failure{{err: errLost, done: true}}},
		"a lost answer after two failures": {rotate: []failure{{err: errLost}, {err: errLost}, {err: errLost, done: true}}},
		"a collision":                      {rotate: []failure{{err: fault.Stale()}, {err: fault.Stale()}}},
		"a lost answer, and no reading": {
			rotate: []failure{{err: errLost, done: true}},
			reads:  []error{nil, unread, unread},
		},
	}
	for name, store := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 0)
				store.Store = w.rows
				w.store = store
				usable, err := w.manager("a").Current(t.Context(), tenant, connID)
				set, version := usable.Set, usable.Version
				expect.NoError(t, err)
				stored, row := w.stored(t)
				if diff := cmp.Diff(stored, set); diff != "" || version != 2 || row.Version != 2 {
					t.Errorf("version %d was handed out, %d is stored (-stored +handed out):\n%s", version, row.Version, diff)
				}
				w.wantFree(t)
				w.wantMarked(t, false)
			})
		})
	}
}

func TestRefreshDetectsSetStoredByAnotherWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	// While the EHR processes the request, the lease expires and another worker stores a different token set.
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		w.replace(t, setOf(w.at.Add(time.Hour)))
		w.ehr.answer = nil
		return nil
	}
	usable, err := w.manager("a").Current(t.Context(), tenant, connID)
	set, version := usable.Set, usable.Version
	expect.NoError(t, err)
	if set.AccessToken.Reveal() != "access 1" || version != 2 {
		t.Errorf("got %q of version %d, want what the other worker stored", set.AccessToken.Reveal(), version)
	}
}

// TestRefreshStoresResponseAfterLeaseExpires covers an EHR response that arrives after another worker has taken the
// lease. The EHR will refuse the other worker's call, so the late response contains the only valid refresh token.
func TestRefreshStoresResponseAfterLeaseExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.ehr.answer = func() error {
		w.at = w.at.Add(61 * time.Second)
		w.lease(t, "b")
		return nil
	}
	usable, err := w.manager("a").Current(t.Context(), tenant, connID)
	version := usable.Version
	if set, row := w.stored(t); err != nil || version != 2 || row.Version != 2 ||
		set.RefreshToken.Reveal() != "refresh 2" {
		t.Errorf("version %d (%v), stored %d with %q; want the new refresh token", version, err, row.Version,
			set.RefreshToken.Reveal())
	}
}

func TestRefreshKeepsFieldsMissingFromResponse(t *testing.T) {
	t.Parallel()
	end := start.Add(30 * time.Minute)
	whole := tokens.Set{
		AccessToken: secret.New("access 2"), RefreshToken: secret.New("refresh 2"), PatientID: secret.New("patient 2"),
		Scope: "patient/Patient.read", AskedScope: setOf(end).AskedScope, FHIRBase: "https://fhir.example/r4",
		TokenEndpoint: "https://fhir.example/token", ClientID: "client", ExpiresAt: end,
		Extra:      map[string]string{"practice": "a-2"},
		EndpointID: "endpoint", RawBasic: true,
	}
	bare := whole
	bare.RefreshToken, bare.PatientID, bare.Scope, bare.AskedScope, bare.Extra = secret.Text{}, secret.Text{}, "", "", nil
	asked := whole
	asked.AskedScope = "what nobody asked the patient for"
	kept := setOf(end)
	kept.AccessToken = whole.AccessToken
	for name, test := range map[string]struct{ answer, want tokens.Set }{
		"all":                   {whole, whole},
		"an asked scope":        {asked, whole},
		"an access token alone": {bare, kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.refresher = answering(test.answer)
			usable, err := w.manager("a").Current(t.Context(), tenant, connID)
			got := usable.Set
			expect.NoError(t, err)
			stored, _ := w.stored(t)
			if diff := cmp.Diff(test.want, got) + cmp.Diff(test.want, stored); diff != "" {
				t.Errorf("handed out and stored (-want +got):\n%s", diff)
			}
		})
	}
}

// answering simulates an EHR that always returns the same response.
type answering tokens.Set

func (a answering) Refresh(context.Context, org.Tenant, tokens.Set) (tokens.Set, error) {
	return tokens.Set(a), nil
}

func TestRefreshDiscardsResponseWithoutAccessToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.refresher = answering{RefreshToken: secret.New("refresh 2")}
	if _, err := w.manager("a").Current(t.Context(), tenant, connID); err == nil || errors.Is(err, tokens.ErrRefused) {
		t.Errorf("error = %v, want a transient one", err)
	}
	if set, row := w.stored(t); row.Version != 1 || set.RefreshToken.Reveal() != "refresh 1" {
		t.Errorf("version %d with %q is stored", row.Version, set.RefreshToken.Reveal())
	}
}

// TestCurrentReplacesShortLivedTokenOnEveryCall covers EHRs whose access tokens last only seconds. Current returns a
// short-lived token once and replaces it on the next call.
func TestCurrentReplacesShortLivedTokenOnEveryCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.ehr.life = 30 * time.Second
	for version := int64(2); version < 5; version++ {
		usable, err := w.manager("a").Current(t.Context(), tenant, connID)
		set, got := usable.Set, usable.Version
		if err != nil || got != version || !set.ExpiresAt.Equal(start.Add(30*time.Second)) || usable.Overdue != nil {
			t.Errorf("version %d until %v (%v), want %d", got, set.ExpiresAt, err, version)
		}
	}
}

// TestRefreshCompletesAfterCallerCancels checks that the response is stored even if the caller has cancelled. The
// refresh token has already been used by the time the EHR responds.
func TestRefreshCompletesAfterCallerCancels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.at = w.at.Add(time.Hour) // the cached data keys expire
	ctx, cancel := context.WithCancel(t.Context())
	w.ehr.answer = func() error { cancel(); return nil }
	if _, err := w.manager("a").Current(ctx, tenant, connID); err != nil {
		t.Errorf("error = %v", err)
	}
	if set, row := w.stored(t); row.Version != 2 || set.RefreshToken.Reveal() != "refresh 2" {
		t.Errorf("version %d with %q is stored, want the rotated refresh token", row.Version, set.RefreshToken.Reveal())
	}
}

func TestRefreshEndsWithinLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		w.refresher = hanging{}
		started := time.Now()
		_, err := w.manager("a").Current(t.Context(), tenant, connID)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) >= time.Minute {
			t.Errorf("error = %v after %v, want a deadline within the lease of a minute", err, time.Since(started))
		}
	})
}

type hanging struct{}

func (hanging) Refresh(ctx context.Context, _ org.Tenant, _ tokens.Set) (tokens.Set, error) {
	<-ctx.Done()
	return tokens.Set{}, ctx.Err()
}
