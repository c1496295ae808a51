package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
)

// Tokens tests a tokens.Store. Only one lease on a token set may exist at a time. A row must not be leased if it has
// changed since it was read. Each version must be stored only once. open returns a store that contains the given row,
// which is a first version without a lease.
func Tokens(t *testing.T, open func(testing.TB, tokens.Row) tokens.Store) {
	t.Helper()
	begun := func(tb testing.TB) tokens.Store {
		tb.Helper()
		return open(tb, tokensOf())
	}
	run(t, begun, map[string]func(subject[tokens.Store]){
		"of many leases one wins":                         oneLease,
		"a lease holds until its end":                     leaseUntilItsEnd,
		"a lease is for what was read":                    leaseForWhatWasRead,
		"a lease is released by its holder alone":         releasedByHolder,
		"a version is stored once, whoever has the lease": versionOnce,
		"tokens that are not there are not made":          noTokens,
		"tokens are their tenant's":                       tokensOfTenant,
	})
}

// tokensOf returns the first version of a connection's tokens.
func tokensOf() tokens.Row {
	return tokens.Row{Tenant: tenantA(), ConnectionID: connID, Sealed: []byte("sealed one"), Version: 1}
}

// leased returns a token row that is leased for a minute from now. started is the refresh start time that was read with
// the row.
func leased(owner string, version int64, started time.Time) tokens.Row {
	row := tokensOf()
	row.Version, row.LeaseOwner, row.LeaseUntil, row.RefreshStartedAt = version, owner, now().Add(time.Minute), started
	return row
}

func wantTokens(t *testing.T, s tokens.Store, want tokens.Row) {
	t.Helper()
	got, err := s.Tokens(t.Context(), tenantA(), connID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored row (-want +got):\n%s", diff)
	}
}

func oneLease(c subject[tokens.Store]) {
	t, s := c.t, c.store
	if won := expect.Winners(t, 20, func(ctx context.Context, i int) error {
		return s.LeaseTokens(ctx, leased(fmt.Sprint("owner ", i), 1, time.Time{}), now())
	}); won != 1 {
		t.Errorf("%d of 20 leases won, want 1", won)
	}
}

func leaseUntilItsEnd(c subject[tokens.Store]) {
	t, s := c.t, c.store
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now()))
	wantTokens(t, s, leased("first", 1, now()))

	expect.Conflict(t, "a second owner", s.LeaseTokens(t.Context(), leased("second", 1, now()), now().Add(time.Minute)))
	if err := s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now().Add(time.Second)); err != nil {
		t.Errorf("the owner again, whose answer was lost: %v", err)
	}
	started := now().Add(time.Second)
	expect.Conflict(t, "a version that is not stored", s.LeaseTokens(t.Context(), leased("first", 2, started), now()))
	if err := s.LeaseTokens(t.Context(), leased("second", 1, started),
		now().Add(time.Minute+time.Microsecond)); err != nil {
		t.Errorf("a second owner after the lease: %v", err)
	}
	wantTokens(t, s, leased("second", 1, started))
}

// A worker can miss a refresh that starts and ends after the worker reads the row but before it takes the lease.
func leaseForWhatWasRead(c subject[tokens.Store]) {
	t, s := c.t, c.store
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now()))
	expect.NoError(t, s.ReleaseTokens(t.Context(), leased("first", 1, now())))
	expect.Conflict(t, "not knowing of the use", s.LeaseTokens(t.Context(), leased("second", 1, time.Time{}), now()))
	expect.Conflict(t, "knowing of another use",
		s.LeaseTokens(t.Context(), leased("second", 1, now().Add(time.Microsecond)), now().Add(time.Hour)))
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("second", 1, now()), now().Add(time.Second)))
	wantTokens(t, s, leased("second", 1, now()))
}

func releasedByHolder(c subject[tokens.Store]) {
	t, s := c.t, c.store
	expect.Conflict(t, "releasing no lease", s.ReleaseTokens(t.Context(), leased("first", 1, time.Time{})))
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now()))
	expect.Conflict(t, "another owner", s.ReleaseTokens(t.Context(), leased("second", 1, time.Time{})))
	expect.Conflict(t, "another version", s.ReleaseTokens(t.Context(), leased("first", 2, time.Time{})))
	wantTokens(t, s, leased("first", 1, now()))

	kept := tokensOf()
	kept.RefreshStartedAt = now()
	expect.NoError(t, s.ReleaseTokens(t.Context(), leased("first", 1, now())))
	wantTokens(t, s, kept)
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("second", 1, now()), now()))
	expect.NoError(t, s.ReleaseTokens(t.Context(), leased("second", 1, time.Time{})))
	wantTokens(t, s, tokensOf())
}

// The lease prevents two workers from requesting tokens at once. Whether tokens can be stored depends only on their
// version, so a worker can store its response even after its lease has expired.
func versionOnce(c subject[tokens.Store]) {
	t, s := c.t, c.store
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now()))
	later := now().Add(2 * time.Minute)
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("second", 1, now()), later))

	next := tokens.Row{Tenant: tenantA(), ConnectionID: connID, Sealed: []byte("sealed two"), Version: 3}
	expect.Conflict(t, "skipping a version", s.RotateTokens(t.Context(), next))
	next.Version = 2
	if won := expect.Winners(t, 10, func(ctx context.Context, i int) error {
		late := next
		late.LeaseOwner = fmt.Sprint("owner ", i)
		return s.RotateTokens(ctx, late)
	}); won != 1 {
		t.Errorf("%d of 10 rotations won, want 1", won)
	}
	wantTokens(t, s, next)
	expect.Conflict(t, "leasing the version before",
		s.LeaseTokens(t.Context(), leased("third", 1, time.Time{}), later.Add(time.Hour)))
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("third", 2, time.Time{}), later))
}

func noTokens(c subject[tokens.Store]) {
	t, s := c.t, c.store
	elsewhere := leased("first", 1, time.Time{})
	elsewhere.ConnectionID = "c0000000-0000-4000-8000-000000000009"
	wantNoTokens(t, s, elsewhere)
}

func tokensOfTenant(c subject[tokens.Store]) {
	t, s := c.t, c.store
	expect.NoError(t, s.LeaseTokens(t.Context(), leased("first", 1, time.Time{}), now()))
	for _, other := range others() {
		foreign := leased("first", 1, time.Time{})
		foreign.Tenant = other
		wantNoTokens(t, s, foreign)
	}
	wantTokens(t, s, leased("first", 1, now()))
}

// wantNoTokens checks that operations on a missing row fail and do not create a row.
func wantNoTokens(t *testing.T, s tokens.Store, row tokens.Row) {
	t.Helper()
	next := row
	next.Version++
	expect.Conflict(t, "leasing", s.LeaseTokens(t.Context(), row, now().Add(time.Hour)))
	expect.Conflict(t, "releasing", s.ReleaseTokens(t.Context(), row))
	expect.Conflict(t, "rotating", s.RotateTokens(t.Context(), next))
	missing(t, s, row.Tenant, row.ConnectionID)
}

func missing(t *testing.T, s tokens.Store, tenant org.Tenant, id string) {
	t.Helper()
	_, err := s.Tokens(t.Context(), tenant, id)
	expect.NotFound(t, "reading", err)
}
