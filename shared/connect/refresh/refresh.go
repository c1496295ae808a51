// Package refresh maintains tokens between exports. It schedules refreshes, limits concurrent refreshes at a token
// endpoint, interprets refusals, revokes connections and notifies their organisations. Package tokens owns the safe
// refresh itself. Package refresh depends on no EHR, on no AWS and on no HTTP.
package refresh

import (
	"context"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Store stores connections.
type Store interface {
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// SaveConnection replaces revision c.Rev of the connection and stores the events, in one transaction; fault.Conflict
	// if the connection has changed since or an event with the same id exists.
	SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error
	// RevokeConnection is SaveConnection that also ends the token set of the given version; fault.Conflict if a different
	// version is stored by now.
	RevokeConnection(ctx context.Context, c connection.Connection, version int64, event webhook.Event) error
	// Upstream reads the remaining tokens of a disconnected connection, sealed under UpstreamPurpose; fault.NotFound.
	Upstream(ctx context.Context, tenant org.Tenant, id string) ([]byte, error)
	// ForgetUpstream deletes them if they are unchanged, and otherwise does nothing.
	ForgetUpstream(ctx context.Context, tenant org.Tenant, id string, sealed []byte) error
}

// UpstreamPurpose is the purpose in the encryption context of the value that Upstream returns.
const UpstreamPurpose = "upstream-revocation"

// Tokens refreshes token sets (tokens.Manager with a Limiter for scheduled work).
type Tokens interface {
	Refresh(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
}

// Revoker revokes a refresh token at its authorization server (RFC 7009). An error is transient; a refusal, or a server
// that does not recognise the token, counts as success.
type Revoker interface {
	Revoke(ctx context.Context, tenant org.Tenant, set tokens.Set) error
}

// Records deletes the cached records of TEFCA connections (records.Ender).
type Records interface {
	// DeleteUntil deletes the cached records of a connection's authorizations up to a generation. It is idempotent.
	DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error
}

// EndpointState holds the state of refreshes at a token endpoint that all functions share. Endpoints are named by a
// hash.
type EndpointState interface {
	// TakeSlot leases the numbered slot of the endpoint to owner until a time, if it is free at now; else fault.Conflict.
	TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now, until time.Time) error
	// ReleaseSlot releases the slot if owner still holds it.
	ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error
	// Breaker reads the endpoint's breaker; zero if nothing ever failed.
	Breaker(ctx context.Context, endpoint string) (Breaker, error)
	// SaveBreaker replaces the breaker seen with next; fault.Conflict if the stored one differs from seen.
	SaveBreaker(ctx context.Context, endpoint string, seen, next Breaker) error
	// Count adds one refresh response to the minute of at.
	Count(ctx context.Context, endpoint string, at time.Time, refused bool) error
	// Counts returns the totals of the minutes since a time.
	Counts(ctx context.Context, endpoint string, since time.Time) (answered, refused int, err error)
}

// Breaker records the recent failures of a token endpoint.
type Breaker struct {
	Failures  int       // consecutive transient failures
	OpenUntil time.Time // no scheduled refresh before then; zero if never opened
}
