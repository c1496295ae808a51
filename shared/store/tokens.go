package store

import (
	"context"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/tokens"
)

// Tokens keeps sealed token sets. A row without one is the tombstone of a set that was ended; it only keeps the version,
// so that nothing from before the end is ever stored again.
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
		return tokens.Row{}, fault.Missing("The connection holds no tokens.")
	}
	return tokens.Row{
		Tenant: tenant, ConnectionID: connectionID, Sealed: row.bytes("sealed"), Version: row.int("version"),
		LeaseOwner: row.text("lease_owner"), LeaseUntil: row.time("lease_until"), RefreshStartedAt: row.time("refresh_started_at"),
	}, nil
}

// LeaseTokens implements tokens.Store.
func (s Tokens) LeaseTokens(ctx context.Context, r tokens.Row, now time.Time) error {
	started, asRead := now, "attribute_not_exists(refresh_started_at)"
	if !r.RefreshStartedAt.IsZero() {
		started, asRead = r.RefreshStartedAt, "refresh_started_at = :started"
	}
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID),
		set: "SET lease_owner = :owner, lease_until = :until, refresh_started_at = :started",
		// The owner's own lease is no obstacle: a write whose answer was lost is made again.
		when: "version = :version AND attribute_exists(sealed) AND (lease_owner = :owner OR (" + asRead +
			" AND (attribute_not_exists(lease_until) OR lease_until < :now)))",
		values: item{
			":owner": text(r.LeaseOwner), ":until": moment(r.LeaseUntil), ":started": moment(started),
			":version": number(r.Version), ":now": moment(now),
		},
	})
	return err
}

// ReleaseTokens implements tokens.Store.
func (s Tokens) ReleaseTokens(ctx context.Context, r tokens.Row) error {
	ended := "REMOVE lease_owner, lease_until"
	if r.RefreshStartedAt.IsZero() {
		ended += ", refresh_started_at"
	}
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID),
		set: ended, when: "version = :version AND lease_owner = :owner",
		values: item{":version": number(r.Version), ":owner": text(r.LeaseOwner)},
	})
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

// endTokens leaves a tombstone of a token set. Its version is one more, so that a refresh under way finds nothing to
// replace, and the set of a later reconnect is newer still.
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
