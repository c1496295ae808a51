package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/tokens"
)

func leased(owner string, version int64) tokens.Row {
	row := tokensOf(tenant)
	row.Version, row.LeaseOwner, row.LeaseUntil = version, owner, now.Add(time.Minute)
	return row
}

func TestOfManyLeasesOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	if won := race(t, 20, func(ctx context.Context, i int) error {
		return s.tokens.LeaseTokens(ctx, leased(fmt.Sprint("owner ", i), 1), now)
	}); won != 1 {
		t.Errorf("%d of 20 leases won, want 1", won)
	}
}

func TestALeaseHoldsUntilItsEnd(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1), now))

	got, err := s.tokens.Tokens(t.Context(), tenant, connID)
	must(t, err)
	if diff := cmp.Diff(leased("first", 1), got); diff != "" {
		t.Errorf("leased row (-want +got):\n%s", diff)
	}
	wantConflict(t, "a second owner", s.tokens.LeaseTokens(t.Context(), leased("second", 1), now.Add(time.Minute)))
	if err := s.tokens.LeaseTokens(t.Context(), leased("first", 1), now.Add(time.Second)); err != nil {
		t.Errorf("the owner again, whose answer was lost: %v", err)
	}
	wantConflict(t, "a version that is not stored", s.tokens.LeaseTokens(t.Context(), leased("first", 2), now))
	if err := s.tokens.LeaseTokens(t.Context(), leased("second", 1), now.Add(time.Minute+time.Microsecond)); err != nil {
		t.Errorf("a second owner after the lease: %v", err)
	}
}

func TestOnlyTheHolderOfTheLeaseRotatesAndOnlyOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	next := tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: []byte("sealed two"), Version: 2}
	wantConflict(t, "rotating without a lease", s.tokens.RotateTokens(t.Context(), next))

	must(t, s.tokens.LeaseTokens(t.Context(), leased("first", 1), now))
	later := now.Add(2 * time.Minute)
	must(t, s.tokens.LeaseTokens(t.Context(), leased("second", 1), later))
	next.LeaseOwner = "first"
	wantConflict(t, "the owner of an old lease", s.tokens.RotateTokens(t.Context(), next))

	next.LeaseOwner = "second"
	next.Version = 3
	wantConflict(t, "skipping a version", s.tokens.RotateTokens(t.Context(), next))
	next.Version = 2
	if won := race(t, 10, func(ctx context.Context, _ int) error { return s.tokens.RotateTokens(ctx, next) }); won != 1 {
		t.Errorf("%d of 10 rotations won, want 1", won)
	}
	next.LeaseOwner = ""
	got, err := s.tokens.Tokens(t.Context(), tenant, connID)
	must(t, err)
	if diff := cmp.Diff(next, got); diff != "" {
		t.Errorf("rotated row (-want +got):\n%s", diff)
	}
	wantConflict(t, "leasing the version before", s.tokens.LeaseTokens(t.Context(), leased("third", 1), later.Add(time.Hour)))
	must(t, s.tokens.LeaseTokens(t.Context(), leased("third", 2), later))
}
