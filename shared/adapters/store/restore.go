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

// Restore recovers lost token sets from a copy of the table restored to an earlier time (operator.TokenRows).
type Restore struct {
	Connections

	Events       Events
	Tokens, From Tokens
}

// HasTokens reports whether a connection has tokens, or a tombstone for ended tokens.
func (s Restore) HasTokens(ctx context.Context, tenant org.Tenant, connectionID string) (bool, error) {
	_, err := get(ctx, s.Tokens.DB, s.Tokens.Table, tokensKey(tenant, connectionID))
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Restored reads a connection's tokens from the restored table. It returns fault.NotFound if the restored table has no
// tokens for the connection.
func (s Restore) Restored(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error) {
	return s.From.Tokens(ctx, tenant, connectionID)
}

// PutBack stores a recovered token set. It returns fault.Conflict if the connection already has tokens or a tombstone.
func (s Restore) PutBack(ctx context.Context, r tokens.Row) error {
	row := tokensItem(r)
	row.setTime("refresh_started_at", r.RefreshStartedAt)
	return create(ctx, s.Tokens.DB, s.Tokens.Table, row)
}

// EndConnection stores an ended connection and the event that reports its end. It returns fault.Conflict if the
// connection has changed since it was read.
func (s Restore) EndConnection(ctx context.Context, c connection.Connection, event webhook.Event) error {
	return NewRefresh(s.Connections, s.Tokens, s.Events).SaveConnection(ctx, c, event)
}
