package store

import (
	"context"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

// Connections keeps connections.
type Connections struct {
	DB    DB
	Table string
}

// Connection implements export.Connections.
func (s Connections) Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	row, err := get(ctx, s.DB, s.Table, connectionKey(tenant, id))
	if err != nil {
		return connection.Connection{}, err
	}
	return connection.Connection{
		ID: id, Tenant: tenant, Status: connection.Status(row.text("status")),
		BrandID: row.text("brand_id"), PortalID: row.text("portal_id"), EndpointID: row.text("endpoint_id"),
		PlatformType: row.text("platform_type"), Scope: row.text("scope"), ConsentExpiresAt: row.time("consent_expires_at"),
		Patient:    secret.Mark{Version: int(row.int("patient_version")), Sum: row.bytes("patient_hash")},
		Generation: row.int("generation"), CreatedAt: row.time("created_at"), Rev: row.int("rev"),
	}, nil
}

func connectionItem(c connection.Connection) item {
	row := newItem(connectionKey(c.Tenant, c.ID))
	row.setText("status", string(c.Status))
	row.setText("brand_id", c.BrandID)
	row.setText("portal_id", c.PortalID)
	row.setText("endpoint_id", c.EndpointID)
	row.setText("platform_type", c.PlatformType)
	row.setText("scope", c.Scope)
	row.setTime("consent_expires_at", c.ConsentExpiresAt)
	row.setInt("patient_version", int64(c.Patient.Version))
	row.setBytes("patient_hash", c.Patient.Sum)
	row.setInt("generation", c.Generation)
	row.setTime("created_at", c.CreatedAt)
	row.setInt("rev", 1)
	row.listed(c.Tenant, "CONN", c.ID, c.CreatedAt)
	return row
}

// Tokens keeps sealed token sets.
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
	return tokens.Row{
		Tenant: tenant, ConnectionID: connectionID, Sealed: row.bytes("sealed"), Version: row.int("version"),
		LeaseOwner: row.text("lease_owner"), LeaseUntil: row.time("lease_until"),
	}, nil
}

// LeaseTokens implements tokens.Store.
func (s Tokens) LeaseTokens(ctx context.Context, r tokens.Row, now time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID),
		set: "SET lease_owner = :owner, lease_until = :until",
		// The owner's own lease is no obstacle: a write whose answer was lost is made again.
		when: "version = :version AND (attribute_not_exists(lease_until) OR lease_until < :now OR lease_owner = :owner)",
		values: item{
			":owner": text(r.LeaseOwner), ":until": moment(r.LeaseUntil), ":version": number(r.Version), ":now": moment(now),
		},
	})
	return err
}

// RotateTokens implements tokens.Store.
func (s Tokens) RotateTokens(ctx context.Context, r tokens.Row) error {
	sealed := item{}
	sealed.setBytes(":sealed", r.Sealed)
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: tokensKey(r.Tenant, r.ConnectionID),
		set:  "SET sealed = :sealed, version = :next REMOVE lease_owner, lease_until",
		when: "version = :version AND lease_owner = :owner",
		values: item{
			":sealed": sealed[":sealed"], ":next": number(r.Version), ":version": number(r.Version - 1), ":owner": text(r.LeaseOwner),
		},
	})
	return err
}

func tokensItem(r tokens.Row) item {
	row := newItem(tokensKey(r.Tenant, r.ConnectionID))
	row.setBytes("sealed", r.Sealed)
	row.setInt("version", r.Version)
	return row
}
