package store

import (
	"context"
	"errors"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Restore puts token sets back that were lost, out of a table that was restored to an earlier
// moment (operator.TokenRows).
type Restore struct {
	Connections

	Events       Events
	Tokens, From Tokens
}

// HasTokens tells whether a connection has tokens, or a tombstone that says that they have ended.
func (s Restore) HasTokens(ctx context.Context, tenant org.Tenant, connectionID string) (bool, error) {
	_, err := get(ctx, s.Tokens.DB, s.Tokens.Table, tokensKey(tenant, connectionID))
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Restored reads what a connection had at the earlier moment; fault.NotFound when that was nothing.
func (s Restore) Restored(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error) {
	return s.From.Tokens(ctx, tenant, connectionID)
}

// PutBack stores a token set where there is nothing; else fault.Conflict.
func (s Restore) PutBack(ctx context.Context, r tokens.Row) error {
	row := tokensItem(r)
	row.setTime("refresh_started_at", r.RefreshStartedAt)
	return create(ctx, s.Tokens.DB, s.Tokens.Table, row)
}

// EndConnection stores a connection that has ended, with its event; fault.Conflict when it was
// changed since it was read.
func (s Restore) EndConnection(ctx context.Context, c connection.Connection, event webhook.Event) error {
	return NewRefresh(s.Connections, s.Tokens, s.Events).SaveConnection(ctx, c, event)
}
