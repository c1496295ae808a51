package store

import (
	"context"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Tokens stores encrypted token sets. A row without a token set is the tombstone of an ended token set. A tombstone
// keeps the token set's version, so that an earlier set is never stored again.
type Tokens struct {
	DB    DB
	Table string
}

// Tokens implements tokens.Store.
func (s Tokens) Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error) {
	row, err := get(ctx, s.DB, s.Table, tokensKey(tenant, connectionID))
	if err != nil {
		return tokens.Row{}, err
	}
	if len(row.bytes("sealed")) == 0 {
		return tokens.Row{}, fault.Missing("The connection has no tokens.")
	}
	return tokens.Row{
		Tenant: tenant, ConnectionID: connectionID, Sealed: row.bytes("sealed"), Version: row.int("version"),
		LeaseOwner: row.text("lease_owner"), LeaseUntil: row.time("lease_until"),
		RefreshStartedAt: row.time("refresh_started_at"),
	}, nil
}

func tokensLease() lease { return leaseOf("lease_owner") }

// LeaseTokens implements tokens.Store.
func (s Tokens) LeaseTokens(ctx context.Context, r tokens.Row, now time.Time) error {
	started, asRead := now, "attribute_not_exists(refresh_started_at)"
	if !r.RefreshStartedAt.IsZero() {
		started, asRead = r.RefreshStartedAt, "refresh_started_at = :started"
	}
	_, err := update(ctx, s.DB, tokensLease().take(change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID), set: ", refresh_started_at = :started",
		when:   "version = :version AND attribute_exists(sealed)",
		values: item{":started": moment(started), ":version": number(r.Version)},
	}, r.LeaseOwner, asRead, now, r.LeaseUntil))
	return err
}

// ReleaseTokens implements tokens.Store.
func (s Tokens) ReleaseTokens(ctx context.Context, r tokens.Row) error {
	c := tokensLease().release(tokensLease().held(change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID), when: "version = :version",
		values: item{":version": number(r.Version)},
	}, text(r.LeaseOwner)))
	c.set += ", #holder"
	if r.RefreshStartedAt.IsZero() {
		c.set += ", refresh_started_at"
	}
	_, err := update(ctx, s.DB, c)
	return err
}

// RotateTokens implements tokens.Store.
func (s Tokens) RotateTokens(ctx context.Context, r tokens.Row) error {
	sealed := item{}
	sealed.setBytes(":sealed", r.Sealed)
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID),
		set:    "SET sealed = :sealed, version = :next REMOVE lease_owner, lease_until, refresh_started_at",
		when:   "version = :version AND attribute_exists(sealed)",
		values: item{":sealed": sealed[":sealed"], ":next": number(r.Version), ":version": number(r.Version - 1)},
	})
	return err
}

// endTokens replaces a token set with a tombstone. The tombstone has the next version, so that a concurrent refresh
// can't replace it and a later reconnect's set has a higher version.
func endTokens(table string, tenant org.Tenant, connectionID string, version int64) change {
	return change{
		table: table, key: tokensKey(tenant, connectionID),
		set:    "SET version = :next REMOVE sealed, lease_owner, lease_until, refresh_started_at",
		when:   "version = :version AND attribute_exists(sealed)",
		values: item{":next": number(version + 1), ":version": number(version)},
	}
}

func tokensItem(r tokens.Row) item {
	row := newItem(tokensKey(r.Tenant, r.ConnectionID))
	row.setBytes("sealed", r.Sealed)
	row.setInt("version", r.Version)
	return row
}
