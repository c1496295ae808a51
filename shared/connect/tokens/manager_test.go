package tokens_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func TestCurrentRefreshesOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		left         time.Duration
		withoutToken bool // whether the EHR issued no refresh token
		refreshed    bool
		want         error
	}{
		{"an hour left", time.Hour, false, false, nil},
		{"a moment more than two minutes left", 2*time.Minute + 1, false, false, nil},
		{"two minutes left", 2 * time.Minute, false, true, nil},
		{"expired", -time.Hour, false, true, nil},
		{"a moment left, no refresh token", 1, true, false, nil},
		{"expired, no refresh token", 0, true, false, tokens.ErrNothingToRenew},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.left)
			if test.withoutToken {
				set := setOf(start.Add(test.left))
				set.RefreshToken = secret.Text{}
				w.replace(t, set)
			}
			usable, err := w.manager("a").Current(t.Context(), tenant, connID)
			set, version := usable.Set, usable.Version
			if !errors.Is(err, test.want) {
				t.Fatalf("error = %v, want %v", err, test.want)
			}
			if refreshed := len(w.ehr.spent) == 1; refreshed != test.refreshed {
				t.Errorf("refresh tokens used: %q, want a refresh: %v", w.ehr.spent, test.refreshed)
			}
			if err != nil {
				return
			}
			stored, row := w.stored(t)
			if diff := cmp.Diff(stored, set); diff != "" || version != row.Version {
				t.Errorf("version %d was handed out, %d is stored (-stored +handed out):\n%s", version, row.Version, diff)
			}
		})
	}
}

// replace stores set as version 2, as a concurrent worker would.
func (w *world) replace(t *testing.T, set tokens.Set) {
	t.Helper()
	next, err := w.vault.Seal(t.Context(), tenant, connID, 2, set)
	expect.NoError(t, err)
	expect.NoError(t, w.rows.RotateTokens(t.Context(), next))
}

func TestCurrentReturnsNotFoundWithoutTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	for _, of := range []org.Tenant{{Mode: org.Live, OrgID: tenant.OrgID}, {Mode: org.Test, OrgID: "0b"}} {
		if _, err := w.manager("a").Current(t.Context(), of, connID); !errors.Is(err, fault.NotFound) {
			t.Errorf("Current of %v = %v, want fault.NotFound", of, err)
		}
	}
}

func TestRenewRefreshesUnexpiredTokenSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	usable, err := w.manager("a").Renew(t.Context(), tenant, connID, 1)
	set, version := usable.Set, usable.Version
	expect.NoError(t, err)
	if set.AccessToken.Reveal() != "access 2" || version != 2 {
		t.Errorf("got %q as version %d, want access 2 as version 2", set.AccessToken.Reveal(), version)
	}
	// A second worker whose request failed with token set version 1 gets the stored version 2.
	usable, err = w.manager("b").Renew(t.Context(), tenant, connID, 1)
	set, version = usable.Set, usable.Version
	expect.NoError(t, err)
	if set.AccessToken.Reveal() != "access 2" || version != 2 || len(w.ehr.spent) != 1 {
		t.Errorf("got %q as version %d after %d refreshes, want the stored ones", set.AccessToken.Reveal(), version,
			len(w.ehr.spent))
	}
}

func TestConcurrentWorkersUseRefreshTokenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Minute)
	var group sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for i := range 12 {
		group.Go(func() {
			usable, err := w.manager(string(rune('a'+i))).Current(t.Context(), tenant, connID)
			set := usable.Set
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && usable.Overdue != nil && set.AccessToken.Reveal() == "access 1":
				// The other workers took so long that Current returned the old token set, which is still valid.
			case err == nil:
				got[set.AccessToken.Reveal()]++
			case errors.Is(err, tokens.ErrRefused) || !errors.Is(err, fault.Conflict):
				t.Errorf("error = %v, want fault.Conflict while another worker refreshes", err)
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff([]string{"refresh 1"}, w.ehr.spent); diff != "" {
		t.Errorf("used refresh tokens (-want +got):\n%s", diff)
	}
	if len(got) != 1 || got["access 2"] == 0 {
		t.Errorf("handed out %v, want access 2 alone", got)
	}
}

// TestRenewReturnsStoredTokenSetUnlessExpired sets used to the version that the EHR rejected with 401.
func TestRenewReturnsStoredTokenSetUnlessExpired(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		left    time.Duration
		used    int64
		version int64
	}{
		"another version, good":     {time.Hour, 7, 1},
		"another version, expired":  {0, 7, 2},
		"the version that is there": {time.Hour, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.left)
			usable, err := w.manager("a").Renew(t.Context(), tenant, connID, test.used)
			version := usable.Version
			if err != nil || version != test.version {
				t.Errorf("version %d (%v), want %d", version, err, test.version)
			}
		})
	}
}

func TestRenewReturnsUnrenewableWithoutRefreshToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	set := setOf(start.Add(time.Hour))
	set.RefreshToken = secret.Text{}
	w.replace(t, set)
	_, err := w.manager("a").Renew(t.Context(), tenant, connID, 2)
	if !errors.Is(err, tokens.ErrNothingToRenew) || errors.Is(err, tokens.ErrRefused) || len(w.ehr.spent) > 0 {
		t.Errorf("error = %v after %d calls, want ErrNothingToRenew, which refuses nothing", err, len(w.ehr.spent))
	}
	_, err = w.manager("a").Refresh(t.Context(), tenant, connID)
	last, ok := errors.AsType[*tokens.UnrenewableError](err)
	if !ok || last.Version != 2 || !last.ExpiresAt.Equal(start.Add(time.Hour)) {
		t.Errorf("Refresh = %+v (%v), want version 2, which ends in an hour", last, err)
	}
}

func TestCurrentReturnsValidTokenSetWhenRefreshFails(t *testing.T) {
	t.Parallel()
	down := errors.New("503 Service Unavailable")
	for name, given := range map[string]func(t *testing.T, w *world) error{
		"the EHR is down": func(_ *testing.T, w *world) error {
			w.ehr.answer = func() error { return down }
			return down
		},
		"the store fails": func(_ *testing.T, w *world) error {
			w.store = &flaky{Store: w.rows, lease: down}
			return down
		},
		"another worker refreshes": func(t *testing.T, w *world) error {
			t.Helper()
			w.lease(t, "b")
			return fault.Conflict
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30*time.Second)
			want := given(t, w)
			usable, err := w.manager("a").Current(t.Context(), tenant, connID)
			set, version := usable.Set, usable.Version
			if err != nil || version != 1 || set.AccessToken.Reveal() != "access 1" || !errors.Is(usable.Overdue, want) {
				t.Errorf("got version %d, overdue for %v, error %v; want version 1, overdue for %v", version,
					usable.Overdue, err, want)
			}
			if _, err := w.manager("a").Renew(t.Context(), tenant, connID, 1); !errors.Is(err, want) {
				t.Errorf("Renew = %v, want %v: the EHR takes the stored one no more", err, want)
			}
			w.at = w.at.Add(30 * time.Second)
			if _, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, want) {
				t.Errorf("after its end: %v, want %v", err, want)
			}
		})
	}
}

// TestCurrentWithholdsRejectedOrRemovedTokenSet checks that Current never returns a refused or removed token set, even
// if its access token has not expired.
func TestCurrentWithholdsRejectedOrRemovedTokenSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Minute)
	w.ehr.valid = "revoked by the patient"
	if got, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, tokens.ErrRefused) ||
		!got.Set.AccessToken.Empty() {
		t.Errorf("error = %v, want ErrRefused alone", err)
	}
	w.store = &flaky{Store: w.rows, lease: fault.Missing("disconnected")}
	if got, err := w.manager("a").Current(t.Context(), tenant, connID); !errors.Is(err, fault.NotFound) ||
		!got.Set.AccessToken.Empty() {
		t.Errorf("error = %v, want fault.NotFound alone", err)
	}
}
