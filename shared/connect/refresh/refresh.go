// Package refresh owns the care for tokens between exports: when a connection's tokens are due, how many refreshes a
// token endpoint is asked for at once, what a refusal means, when a connection is revoked, and that the organisation
// hears of it. How a refresh is done safely is package tokens'; it knows no EHR, no AWS and no HTTP.
package refresh

import (
	"context"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Store keeps connections.
type Store interface {
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// SaveConnection replaces revision c.Rev of the connection and stores the events, in one transaction; fault.Conflict
	// when the connection has changed since, or an event of that id is there.
	SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error
	// RevokeConnection is SaveConnection that also ends the token set of the given version; fault.Conflict when that is
	// not the one that is stored any more.
	RevokeConnection(ctx context.Context, c connection.Connection, version int64, event webhook.Event) error
	// Upstream reads what is left of a disconnected connection's tokens, sealed under UpstreamPurpose; fault.NotFound.
	Upstream(ctx context.Context, tenant org.Tenant, id string) ([]byte, error)
	// ForgetUpstream deletes it, if it is still the same; nothing happens when it is not.
	ForgetUpstream(ctx context.Context, tenant org.Tenant, id string, sealed []byte) error
}

// UpstreamPurpose stands in the encryption context of what Upstream returns.
const UpstreamPurpose = "upstream-revocation"

// Tokens refreshes token sets (tokens.Manager, whose Limiter is one for scheduled work).
type Tokens interface {
	Refresh(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
}

// Revoker takes a refresh token back at its authorization server (RFC 7009). An error is transient; a server that
// does not know the token, or refuses, has been asked.
type Revoker interface {
	Revoke(ctx context.Context, tenant org.Tenant, set tokens.Set) error
}

// Records removes what is cached of TEFCA connections' records (records.Ender).
type Records interface {
	// DeleteUntil removes what is cached of a connection's authorizations up to a generation; it may be repeated.
	DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error
}

// EndpointState is what all functions know together about refreshes at a token endpoint. Endpoints are named by a hash.
type EndpointState interface {
	// TakeSlot gives owner the numbered slot of the endpoint until a time, if nobody has it at now; else fault.Conflict.
	TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now, until time.Time) error
	// ReleaseSlot gives it back, if owner still has it.
	ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error
	// Breaker reads the state of the endpoint's breaker; a zero one when nothing ever failed.
	Breaker(ctx context.Context, endpoint string) (Breaker, error)
	// SaveBreaker replaces the breaker that was read; fault.Conflict when it has changed since.
	SaveBreaker(ctx context.Context, endpoint string, seen, next Breaker) error
	// Count adds one answered refresh to the minute of at.
	Count(ctx context.Context, endpoint string, at time.Time, refused bool) error
	// Counts sums up the minutes from since on.
	Counts(ctx context.Context, endpoint string, since time.Time) (answered, refused int, err error)
}

// Breaker remembers how a token endpoint fares.
type Breaker struct {
	Failures  int       // transient failures in a row
	OpenUntil time.Time // no scheduled refresh before; zero when it was never open
}
