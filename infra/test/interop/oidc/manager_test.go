package oidc_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const connID = "c0000000-0000-4000-8000-000000000001"

// TestConcurrentRefreshesUseEachTokenOnce checks that concurrent workers never use the same refresh token twice. The
// judge revokes a grant as soon as a client replays a rotated refresh token. If the refresh lease failed even once,
// every later refresh would therefore fail.
func TestConcurrentRefreshesUseEachTokenOnce(t *testing.T) {
	t.Parallel()
	const rounds, workers = 30, 8
	j, p := start(t, registered("public", "none")), portal()
	set, err := p.Exchange(t.Context(), j.signIn(t, p, client{id: "public"}))
	expect.NoError(t, err)
	vault := tokens.Vault{Sealer: glass{}}
	row, err := vault.Seal(t.Context(), tenant, connID, 1, set)
	expect.NoError(t, err)
	manager := tokens.NewManager(&table{row: row}, vault, p, unlimited{}, time.Now, ids.Random)

	version := int64(1)
	for round := range rounds {
		newest := refreshAtOnce(t, manager, workers)
		if newest <= version {
			t.Fatalf("round %d: version %d after version %d", round, newest, version)
		}
		version = newest
	}
	last, err := manager.Current(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if last.Version != version {
		t.Errorf("version %d is stored, want %d", last.Version, version)
	}
	if _, err := p.Refresh(t.Context(), tenant, last.Set); err != nil {
		t.Errorf("the newest refresh token does not work: %v", err)
	}
}

// refreshAtOnce refreshes the same tokens concurrently and returns the newest version that any worker received. The
// only error allowed is fault.Conflict, which means that another worker is refreshing the tokens.
func refreshAtOnce(t *testing.T, manager tokens.Manager, workers int) (newest int64) {
	t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	begin := make(chan struct{})
	for range workers {
		group.Go(func() {
			<-begin
			got, err := manager.Refresh(t.Context(), tenant, connID)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !errors.Is(err, fault.Conflict) {
				t.Errorf("refresh: %v", err)
			}
			newest = max(newest, got.Version)
		})
	}
	close(begin)
	group.Wait()
	return newest
}

// table is an in-memory replacement for store.Tokens that holds one row.
type table struct {
	mu  sync.Mutex
	row tokens.Row
}

func (s *table) Tokens(context.Context, org.Tenant, string) (tokens.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, nil
}

func (s *table) LeaseTokens(_ context.Context, row tokens.Row, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row.Version != row.Version || !s.row.RefreshStartedAt.Equal(row.RefreshStartedAt) ||
		now.Before(s.row.LeaseUntil) {
		return fault.Stale()
	}
	s.row.LeaseOwner, s.row.LeaseUntil = row.LeaseOwner, row.LeaseUntil
	if s.row.RefreshStartedAt.IsZero() {
		s.row.RefreshStartedAt = now
	}
	return nil
}

func (s *table) ReleaseTokens(_ context.Context, row tokens.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row.Version != row.Version || s.row.LeaseOwner != row.LeaseOwner {
		return fault.Stale()
	}
	s.row.LeaseOwner, s.row.LeaseUntil = "", time.Time{}
	if row.RefreshStartedAt.IsZero() {
		s.row.RefreshStartedAt = time.Time{}
	}
	return nil
}

func (s *table) RotateTokens(_ context.Context, row tokens.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row.Version != row.Version-1 {
		return fault.Stale()
	}
	s.row = row
	return nil
}

// unlimited is a limiter that always grants a slot.
type unlimited struct{}

func (unlimited) Acquire(context.Context, string) (tokens.Slot, error) { return unlimited{}, nil }
func (unlimited) Until() time.Time                                     { return time.Now().Add(time.Minute) }
func (unlimited) Release(context.Context, error)                       {}

// glass is a fake sealer that does not encrypt.
type glass struct{}

func (glass) Seal(_ context.Context, _ org.Tenant, _ string, plain []byte) ([]byte, error) {
	return plain, nil
}

func (glass) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}
