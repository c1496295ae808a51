package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connection"
	"recordbridge/shared/tokens"
)

// leased is the first version, leased at now; started is what it was read with.
func leased(owner string, version int64, started time.Time) tokens.Row {
	row := tokensOf(tenant)
	row.Version, row.LeaseOwner, row.LeaseUntil, row.RefreshStartedAt = version, owner, now.Add(time.Minute), started
	return row
}

// wantTokens checks what is stored.
func (s stores) wantTokens(t *testing.T, want tokens.Row) {
	t.Helper()
	got, err := s.tokens.Tokens(t.Context(), tenant, connID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored row (-want +got):\n%s", diff)
	}
}

func TestOfManyLeasesOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	if won := race(t, 20, func(ctx context.Context, i int) error {
		return s.tokens.LeaseTokens(ctx, leased(fmt.Sprint("owner ", i), 1, time.Time{}), now)
	}); won != 1 {
		t.Errorf("%d of 20 leases won, want 1", won)
	}
}

func TestALeaseHoldsUntilItsEnd(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now))
	s.wantTokens(t, leased("first", 1, now))

	wantConflict(t, "a second owner", s.tokens.LeaseTokens(t.Context(), leased("second", 1, now), now.Add(time.Minute)))
	if err := s.tokens.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now.Add(time.Second)); err != nil {
		t.Errorf("the owner again, whose answer was lost: %v", err)
	}
	started := now.Add(time.Second)
	wantConflict(t, "a version that is not stored", s.tokens.LeaseTokens(t.Context(), leased("first", 2, started), now))
	if err := s.tokens.LeaseTokens(t.Context(), leased("second", 1, started), now.Add(time.Minute+time.Microsecond)); err != nil {
		t.Errorf("a second owner after the lease: %v", err)
	}
	s.wantTokens(t, leased("second", 1, started))
}

// A refresh began and ended between another worker's reading and leasing: that worker knows nothing of it.
func TestALeaseIsForWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now))
	must(t, s.tokens.ReleaseTokens(t.Context(), leased("first", 1, now)))
	wantConflict(t, "not knowing of the use", s.tokens.LeaseTokens(t.Context(), leased("second", 1, time.Time{}), now))
	wantConflict(t, "knowing of another use", s.tokens.LeaseTokens(t.Context(), leased("second", 1, now.Add(time.Microsecond)), now.Add(time.Hour)))
	must(t, s.tokens.LeaseTokens(t.Context(), leased("second", 1, now), now.Add(time.Second)))
	s.wantTokens(t, leased("second", 1, now))
}

func TestALeaseIsReleasedByItsHolderAlone(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	wantConflict(t, "releasing no lease", s.tokens.ReleaseTokens(t.Context(), leased("first", 1, time.Time{})))
	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now))
	wantConflict(t, "another owner", s.tokens.ReleaseTokens(t.Context(), leased("second", 1, time.Time{})))
	wantConflict(t, "another version", s.tokens.ReleaseTokens(t.Context(), leased("first", 2, time.Time{})))
	s.wantTokens(t, leased("first", 1, now))

	kept := tokensOf(tenant)
	kept.RefreshStartedAt = now
	must(t, s.tokens.ReleaseTokens(t.Context(), leased("first", 1, now)))
	s.wantTokens(t, kept)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("second", 1, now), now))
	must(t, s.tokens.ReleaseTokens(t.Context(), leased("second", 1, time.Time{})))
	s.wantTokens(t, tokensOf(tenant))
}

// The lease keeps two workers from asking at once; what is stored is decided by the version, so that the answer of a
// worker that outlived its lease is not lost.
func TestAVersionIsStoredOnceWhoeverHasTheLease(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now))
	later := now.Add(2 * time.Minute)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("second", 1, now), later))

	next := tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: []byte("sealed two"), Version: 3}
	wantConflict(t, "skipping a version", s.tokens.RotateTokens(t.Context(), next))
	next.Version = 2
	if won := race(t, 10, func(ctx context.Context, i int) error {
		late := next
		late.LeaseOwner = fmt.Sprint("owner ", i)
		return s.tokens.RotateTokens(ctx, late)
	}); won != 1 {
		t.Errorf("%d of 10 rotations won, want 1", won)
	}
	s.wantTokens(t, next)
	wantConflict(t, "leasing the version before", s.tokens.LeaseTokens(t.Context(), leased("third", 1, time.Time{}), later.Add(time.Hour)))
	must(t, s.tokens.LeaseTokens(t.Context(), leased("third", 2, time.Time{}), later))
}

// A refresh that was under way when the tokens ended, or one that guesses the tombstone's version, brings nothing back.
func TestWhatHasEndedIsNotRevived(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("worker", 1, time.Time{}), now))
	must(t, s.refresh.RevokeConnection(t.Context(), revoked(c), 1, eventOf(tenant, eventID)))
	ended := s.rawTokens(t)

	_, err := s.tokens.Tokens(t.Context(), tenant, connID)
	wantMissing(t, "tokens that have ended", err)
	for version := range int64(4) {
		what := fmt.Sprintf("version %d: ", version)
		fresh := tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: []byte("sealed two"), Version: version + 1}
		wantConflict(t, what+"rotating", s.tokens.RotateTokens(t.Context(), fresh))
		wantConflict(t, what+"leasing", s.tokens.LeaseTokens(t.Context(), leased("another", version, time.Time{}), now.Add(time.Hour)))
		wantConflict(t, what+"releasing", s.tokens.ReleaseTokens(t.Context(), leased("worker", version, time.Time{})))
	}
	if diff := cmp.Diff(ended, s.rawTokens(t)); diff != "" {
		t.Errorf("the tombstone changed (-before +after):\n%s", diff)
	}
}

// A successor that was stored first outlives the revocation of the set before.
func TestOfARotationAndARevocationOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	c := s.connected(t)
	next := tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: []byte("sealed two"), Version: 2}
	if won := race(t, 16, func(ctx context.Context, i int) error {
		if i%2 == 0 {
			return s.tokens.RotateTokens(ctx, next)
		}
		return s.refresh.RevokeConnection(ctx, revoked(c), 1, eventOf(tenant, eventID))
	}); won != 1 {
		t.Errorf("%d of 16 won, want 1", won)
	}
	row, err := s.tokens.Tokens(t.Context(), tenant, connID)
	if held := err == nil && string(row.Sealed) == "sealed two"; held != (s.connection(t).Status == connection.Authorized) {
		t.Errorf("tokens are held: %v, but the connection is %s", held, s.connection(t).Status)
	}
}
