package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Refresh stores the results of token maintenance: updated connections, ended tokens, and the corresponding events.
type Refresh struct {
	connections Connections
	tokens      Tokens
	events      Events
}

// NewRefresh returns a Refresh that uses the given stores.
func NewRefresh(connections Connections, held Tokens, events Events) Refresh {
	return Refresh{connections: connections, tokens: held, events: events}
}

// Connection implements refresh.Store.
func (s Refresh) Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return s.connections.Connection(ctx, tenant, id)
}

// SaveConnection implements refresh.Store.
func (s Refresh) SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error {
	if len(events) == 0 {
		return replace(ctx, s.connections.DB, s.connections.Table, connectionItem(c), c.Rev)
	}
	return transact(ctx, s.connections.DB, s.saving(c, events...)...)
}

// RevokeConnection implements refresh.Store.
func (s Refresh) RevokeConnection(ctx context.Context, c connection.Connection, version int64,
	event webhook.Event,
) error {
	end := endTokens(s.tokens.Table, c.Tenant, c.ID, version)
	return transact(ctx, s.connections.DB, append(s.saving(c, event), end.write())...)
}

// Upstream implements refresh.Store.
func (s Refresh) Upstream(ctx context.Context, tenant org.Tenant, id string) ([]byte, error) {
	row, err := get(ctx, s.connections.DB, s.tokens.Table, upstreamKey(tenant, id))
	if err != nil {
		return nil, err
	}
	return row.bytes("sealed"), nil
}

// ForgetUpstream implements refresh.Store. ForgetUpstream keeps a row whose value differs from sealed, because such a
// row belongs to a later authorisation.
func (s Refresh) ForgetUpstream(ctx context.Context, tenant org.Tenant, id string, sealed []byte) error {
	values := item{}
	values.setBytes(":sealed", sealed)
	_, err := remove(ctx, s.connections.DB, change{
		table: s.tokens.Table, key: upstreamKey(tenant, id),
		when: "sealed = :sealed", values: values,
	})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// saving returns the writes that replace revision c.Rev of the connection and store the events.
func (s Refresh) saving(c connection.Connection, events ...webhook.Event) []types.TransactWriteItem {
	writes := putConnection(s.connections.Table, c)
	for _, event := range events {
		writes = append(writes, putNew(s.events.Table, eventItem(event)))
	}
	return writes
}
