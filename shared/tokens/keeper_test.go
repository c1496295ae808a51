package tokens_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

func TestTokensAreRefreshedOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		left         time.Duration
		withoutToken bool // the EHR gave no refresh token
		refreshed    bool
		want         error
	}{
		{"an hour left", time.Hour, false, false, nil},
		{"a moment more than two minutes left", 2*time.Minute + 1, false, false, nil},
		{"two minutes left", 2 * time.Minute, false, true, nil},
		{"expired", -time.Hour, false, true, nil},
		{"a moment left, no refresh token", 1, true, false, nil},
		{"expired, no refresh token", 0, true, false, tokens.ErrRefused},
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
			set, version, err := w.keeper("a").Current(t.Context(), tenant, connID)
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

// replace stores another token set through the lease, as version 2.
func (w *world) replace(t *testing.T, set tokens.Set) {
	t.Helper()
	row := tokens.Row{Tenant: tenant, ConnectionID: connID, Version: 1, LeaseOwner: "test", LeaseUntil: w.at.Add(time.Minute)}
	must(t, w.rows.LeaseTokens(t.Context(), row, w.at))
	next, err := w.vault.Seal(t.Context(), tenant, connID, 2, set)
	must(t, err)
	next.LeaseOwner = "test"
	must(t, w.rows.RotateTokens(t.Context(), next))
}

func TestAConnectionWithoutTokensIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	for _, of := range []org.Tenant{{Mode: org.Live, OrgID: tenant.OrgID}, {Mode: org.Test, OrgID: "0b"}} {
		if _, _, err := w.keeper("a").Current(t.Context(), of, connID); !errors.Is(err, fault.NotFound) {
			t.Errorf("Current of %v = %v, want fault.NotFound", of, err)
		}
	}
}

func TestRenewRefreshesWhatHasNotExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Hour)
	set, version, err := w.keeper("a").Renew(t.Context(), tenant, connID, 1)
	must(t, err)
	if set.AccessToken.Reveal() != "access 2" || version != 2 {
		t.Errorf("got %q as version %d, want access 2 as version 2", set.AccessToken.Reveal(), version)
	}
	// A second worker that was refused with the first version takes what is there.
	set, version, err = w.keeper("b").Renew(t.Context(), tenant, connID, 1)
	must(t, err)
	if set.AccessToken.Reveal() != "access 2" || version != 2 || len(w.ehr.spent) != 1 {
		t.Errorf("got %q as version %d after %d refreshes, want the stored ones", set.AccessToken.Reveal(), version, len(w.ehr.spent))
	}
}

func TestRacingWorkersUseARefreshTokenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Minute)
	var group sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for i := range 12 {
		group.Go(func() {
			set, _, err := w.keeper(string(rune('a'+i))).Current(t.Context(), tenant, connID)
			mu.Lock()
			defer mu.Unlock()
			switch {
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

func TestARotatedTokenIsStoredBeforeItIsHandedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	keeper := w.keeper("a")
	keeper.Store = &flaky{Store: w.rows, rotate: slices.Repeat([]failure{{err: errLost}}, 5)}
	set, version, err := keeper.Current(t.Context(), tenant, connID)
	if !errors.Is(err, errLost) || errors.Is(err, tokens.ErrRefused) {
		t.Errorf("error = %v, want the store's", err)
	}
	if !set.AccessToken.Empty() || version != 0 {
		t.Errorf("version %d was handed out although it is stored nowhere", version)
	}
}

func TestAFailedWriteOfRotatedTokensIsTriedAgain(t *testing.T) {
	t.Parallel()
	tests := map[string][]failure{
		"four failures":                    slices.Repeat([]failure{{err: errLost}}, 4),
		"a lost answer":                    {{err: errLost, done: true}},
		"a lost answer after two failures": {{err: errLost}, {err: errLost}, {err: errLost, done: true}},
	}
	for name, failures := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			keeper := w.keeper("a")
			keeper.Store = &flaky{Store: w.rows, rotate: failures}
			set, version, err := keeper.Current(t.Context(), tenant, connID)
			must(t, err)
			stored, row := w.stored(t)
			if diff := cmp.Diff(stored, set); diff != "" || version != 2 || row.Version != 2 || row.LeaseOwner != "" {
				t.Errorf("version %d was handed out, %d is stored, leased by %q (-stored +handed out):\n%s", version, row.Version, row.LeaseOwner, diff)
			}
		})
	}
}

func TestAWriteThatLostToAnotherWorkerIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	keeper := w.keeper("a")
	// While the EHR answers, the lease ends and another worker stores a token set of its own.
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		w.replace(t, setOf(w.at.Add(time.Hour)))
		w.ehr.answer = nil
		return nil
	}
	if _, _, err := keeper.Current(t.Context(), tenant, connID); !errors.Is(err, fault.Conflict) || errors.Is(err, tokens.ErrRefused) {
		t.Errorf("error = %v, want fault.Conflict", err)
	}
	set, _, err := keeper.Current(t.Context(), tenant, connID)
	must(t, err)
	if set.AccessToken.Reveal() != "access 1" {
		t.Errorf("next = %q, want what the other worker stored", set.AccessToken.Reveal())
	}
}

func TestARefusalStandsOnlyWhileNobodyElseActs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.ehr.valid = "revoked by the patient"
	if _, _, err := w.keeper("a").Current(t.Context(), tenant, connID); !errors.Is(err, tokens.ErrRefused) {
		t.Errorf("error = %v, want ErrRefused", err)
	}

	w = newWorld(t, 0)
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		w.replace(t, setOf(w.at.Add(time.Hour)))
		return tokens.ErrRefused
	}
	_, version, err := w.keeper("a").Current(t.Context(), tenant, connID)
	if err != nil || version != 2 {
		t.Errorf("version %d (%v), want the newer one that was stored meanwhile", version, err)
	}

	// The other worker has the lease and has used the refresh token, but has not stored its successor yet.
	w = newWorld(t, 0)
	w.ehr.answer = func() error {
		w.at = w.at.Add(2 * time.Minute)
		row := tokens.Row{Tenant: tenant, ConnectionID: connID, Version: 1, LeaseOwner: "b", LeaseUntil: w.at.Add(time.Minute)}
		must(t, w.rows.LeaseTokens(t.Context(), row, w.at))
		return tokens.ErrRefused
	}
	_, _, err = w.keeper("a").Current(t.Context(), tenant, connID)
	if errors.Is(err, tokens.ErrRefused) || !errors.Is(err, fault.Conflict) {
		t.Errorf("error = %v, want fault.Conflict: the connection may be alive", err)
	}
}

func TestATransientFailureIsNeverARefusal(t *testing.T) {
	t.Parallel()
	down := errors.New("503 Service Unavailable")
	t.Run("the EHR", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 0)
		w.ehr.answer = func() error { return down }
		_, _, err := w.keeper("a").Current(t.Context(), tenant, connID)
		if !errors.Is(err, down) || errors.Is(err, tokens.ErrRefused) {
			t.Errorf("error = %v, want the EHR's", err)
		}
		_, row := w.stored(t)
		if row.Version != 1 {
			t.Errorf("version = %d, want 1", row.Version)
		}
		// The lease keeps others from trying at once; after it the next one may.
		w.ehr.answer = nil
		if _, _, err := w.keeper("b").Current(t.Context(), tenant, connID); !errors.Is(err, fault.Conflict) || errors.Is(err, tokens.ErrRefused) {
			t.Errorf("under the lease: %v, want fault.Conflict", err)
		}
		w.at = w.at.Add(time.Minute + time.Microsecond)
		if _, _, err := w.keeper("b").Current(t.Context(), tenant, connID); err != nil {
			t.Errorf("after the lease: %v", err)
		}
	})
	for name, broken := range map[string]*flaky{
		"reading": {read: down}, "leasing": {lease: down}, "leasing lost to another": {lease: fault.Stale()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			broken.Store = w.rows
			keeper := w.keeper("a")
			keeper.Store = broken
			_, _, err := keeper.Current(t.Context(), tenant, connID)
			if err == nil || errors.Is(err, tokens.ErrRefused) || len(w.ehr.spent) > 0 {
				t.Errorf("error = %v, refresh tokens used: %q; want a transient error and none", err, w.ehr.spent)
			}
		})
	}
}

// The refresh token is spent when the EHR answers: what follows must happen whether the caller still waits or not.
func TestACallerThatGivesUpLosesNoTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.at = w.at.Add(time.Hour) // no data key is in memory any more
	ctx, cancel := context.WithCancel(t.Context())
	w.ehr.answer = func() error { cancel(); return nil }
	if _, _, err := w.keeper("a").Current(ctx, tenant, connID); err != nil {
		t.Errorf("error = %v", err)
	}
	if set, row := w.stored(t); row.Version != 2 || set.RefreshToken.Reveal() != "refresh 2" {
		t.Errorf("version %d with %q is stored, want the rotated refresh token", row.Version, set.RefreshToken.Reveal())
	}
}

func TestARefreshEndsWithinItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		keeper := w.keeper("a")
		keeper.Refresher = hanging{}
		started := time.Now()
		_, _, err := keeper.Current(t.Context(), tenant, connID)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) >= time.Minute {
			t.Errorf("error = %v after %v, want a deadline within the lease of a minute", err, time.Since(started))
		}
	})
}

type hanging struct{}

func (hanging) Refresh(ctx context.Context, _ tokens.Set) (tokens.Set, error) {
	<-ctx.Done()
	return tokens.Set{}, ctx.Err()
}

var errLost = errors.New("connection reset")

// failure is what one write answers; done says that it took effect nevertheless.
type failure struct {
	err  error
	done bool
}

// flaky is a store whose calls fail.
type flaky struct {
	tokens.Store

	read, lease error
	rotate      []failure
}

func (f *flaky) Tokens(ctx context.Context, of org.Tenant, id string) (tokens.Row, error) {
	if f.read != nil {
		return tokens.Row{}, f.read
	}
	return f.Store.Tokens(ctx, of, id)
}

func (f *flaky) LeaseTokens(ctx context.Context, row tokens.Row, now time.Time) error {
	if f.lease != nil {
		return f.lease
	}
	return f.Store.LeaseTokens(ctx, row, now)
}

func (f *flaky) RotateTokens(ctx context.Context, row tokens.Row) error {
	if len(f.rotate) == 0 {
		return f.Store.RotateTokens(ctx, row)
	}
	next := f.rotate[0]
	f.rotate = f.rotate[1:]
	if next.done {
		if err := f.Store.RotateTokens(ctx, row); err != nil {
			return err
		}
	}
	return next.err
}
