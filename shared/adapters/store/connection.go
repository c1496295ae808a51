package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Connections stores the connections of all tenants.
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
	return connectionOf(row, tenant, id), nil
}

func connectionOf(row item, tenant org.Tenant, id string) connection.Connection {
	return connection.Connection{
		ID: id, Tenant: tenant, Status: connection.Status(row.text("status")),
		BrandID: row.text("brand_id"), PortalID: row.text("portal_id"), EndpointID: row.text("endpoint_id"),
		PlatformType: row.text("platform_type"), DirectoryID: row.text("directory_id"), Scope: row.text("scope"),
		ConsentExpiresAt: row.time("consent_expires_at"),
		Patient:          secret.Mark{Version: int(row.int("patient_version")), Sum: row.bytes("patient_hash")},
		ExternalID:       row.text("external_id"),
		External:         row.mark("external"),
		VaultKey:         row.text("vault_key"), PersonKey: row.text("person_key"),
		Generation: row.int("generation"), CreatedAt: row.time("created_at"), Rev: row.int("rev"),
		Refresh: connection.RefreshState{
			RefreshAt: row.time("refresh_at"), Unrenewable: row.flag("unrenewable"), Failures: int(row.int("setbacks")),
			RefusedAt: row.time("refused_at"), RefusedVersion: row.int("refused_version"),
			ConsentFixed: row.flag("consent_fixed"), Warned: row.flag("warned"),
			FailureClass: row.text("failure_class"), RenewedAt: row.time("renewed_at"), EndedAt: row.time("ended_at"),
			Ended: row.text("ended"), UpstreamUntil: row.time("upstream_until"),
		},
	}
}

// RefreshDue implements refresh.Rows.
func (s Connections) RefreshDue(ctx context.Context, tenant org.Tenant, id string, now time.Time) error {
	due := item{}
	due.setDue(id, now)
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: connectionKey(tenant, id),
		set:  "SET refresh_at = :now, due_at = :now, due_shard = :shard, rev = rev + :one",
		when: "#status = :authorized", names: map[string]string{"#status": "status"},
		values: item{
			":now": due["due_at"], ":shard": due["due_shard"], ":one": number(1),
			":authorized": text(string(connection.Authorized)),
		},
	})
	return err
}

// putConnection returns the writes that replace revision c.Rev of a connection. Its index row changes only when the
// connection ends.
func putConnection(table string, c connection.Connection) []types.TransactWriteItem {
	writes := []types.TransactWriteItem{putOver(table, connectionItem(c), c.Rev)}
	if c.Status != connection.Authorized {
		writes = append(writes, findConnection(table, c))
	}
	return writes
}

func connectionItem(c connection.Connection) item {
	row := newItem(connectionKey(c.Tenant, c.ID))
	row.setText("status", string(c.Status))
	row.setText("brand_id", c.BrandID)
	row.setText("portal_id", c.PortalID)
	row.setText("endpoint_id", c.EndpointID)
	row.setText("platform_type", c.PlatformType)
	row.setText("directory_id", c.DirectoryID)
	row.setText("scope", c.Scope)
	row.setTime("consent_expires_at", c.ConsentExpiresAt)
	row.setInt("patient_version", int64(c.Patient.Version))
	row.setBytes("patient_hash", c.Patient.Sum)
	row.setText("external_id", c.ExternalID)
	row.setMark("external", c.External)
	row.setText("external_list", externalList(c.Tenant, c.External))
	row.setText("vault_key", c.VaultKey)
	row.setText("person_key", c.PersonKey)
	row.setInt("generation", c.Generation)
	row.setTime("created_at", c.CreatedAt)
	row.setTime("refresh_at", c.Refresh.RefreshAt)
	row.setFlag("unrenewable", c.Refresh.Unrenewable)
	row.setInt("setbacks", int64(c.Refresh.Failures))
	row.setTime("refused_at", c.Refresh.RefusedAt)
	row.setInt("refused_version", c.Refresh.RefusedVersion)
	row.setFlag("consent_fixed", c.Refresh.ConsentFixed)
	row.setFlag("warned", c.Refresh.Warned)
	row.setText("ended", c.Refresh.Ended)
	row.setText("failure_class", c.Refresh.FailureClass)
	row.setTime("renewed_at", c.Refresh.RenewedAt)
	row.setTime("ended_at", c.Refresh.EndedAt)
	row.setTime("upstream_until", c.Refresh.UpstreamUntil)
	row.setInt("rev", c.Rev+1)
	if at := c.DueAt(); !at.IsZero() {
		row.setDue(c.ID, at)
	}
	row.listed(c.Tenant, "CONN", c.ID, c.CreatedAt)
	if cause := c.Cause(); cause != "" {
		row.setText("filter_list", foundList(c.Tenant, connection.ByCause, string(cause)))
	}
	return row
}
