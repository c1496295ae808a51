// Package refresh refreshes connections' tokens between exports. It schedules refreshes, limits concurrent refreshes at
// each token endpoint, interprets refusals, revokes connections and notifies their organisations. Package tokens
// performs each refresh. Package refresh does not depend on a specific EHR, AWS or HTTP.
package refresh

import (
	"context"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Store stores connections and the tokens that remain after a disconnection.
type Store interface {
	// Connection performs a consistent read of a connection. It returns fault.NotFound if the connection does not
	// exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// SaveConnection replaces the stored connection at revision c.Rev and stores the events, in a single transaction.
	// It returns fault.Conflict if the connection has changed since that revision, or if an event with the same ID
	// exists.
	SaveConnection(ctx context.Context, c connection.Connection, events ...webhook.Event) error
	// RevokeConnection is like SaveConnection, but also deletes the token set with the given version. It returns
	// fault.Conflict if a different version is stored.
	RevokeConnection(ctx context.Context, c connection.Connection, version int64, event webhook.Event) error
	// Upstream reads a disconnected connection's remaining tokens, which are sealed under UpstreamPurpose. It returns
	// fault.NotFound if no tokens remain.
	Upstream(ctx context.Context, tenant org.Tenant, id string) ([]byte, error)
	// ForgetUpstream deletes a disconnected connection's remaining tokens if the stored value still equals sealed.
	ForgetUpstream(ctx context.Context, tenant org.Tenant, id string, sealed []byte) error
}

// UpstreamPurpose is the encryption context's purpose for the value that Store.Upstream returns.
const UpstreamPurpose = "upstream-revocation"

// Tokens refreshes token sets. A tokens.Manager with a Limiter for scheduled work implements Tokens.
type Tokens interface {
	Refresh(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Usable, error)
}

// Revoker revokes a refresh token at its authorization server (RFC 7009). All errors are transient. If the server
// refuses the revocation or doesn't recognise the token, the revocation counts as successful.
type Revoker interface {
	Revoke(ctx context.Context, tenant org.Tenant, set tokens.Set) error
}

// Records deletes the cached records of TEFCA connections (records.Ender).
type Records interface {
	// DeleteUntil deletes a connection's cached records for all authorisations up to generation. It is idempotent.
	DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error
}

// EndpointState stores the refresh state of token endpoints. All functions share this state. Each endpoint is
// identified by its EndpointName.
type EndpointState interface {
	// TakeSlot leases a numbered slot at the endpoint to owner. The lease expires at until. TakeSlot returns
	// fault.Conflict if the slot is leased at now.
	TakeSlot(ctx context.Context, endpoint string, slot int, owner string, now, until time.Time) error
	// ReleaseSlot releases the slot if owner still holds it.
	ReleaseSlot(ctx context.Context, endpoint string, slot int, owner string) error
	// Breaker reads the endpoint's breaker. It returns the zero Breaker if the endpoint has never failed.
	Breaker(ctx context.Context, endpoint string) (Breaker, error)
	// SaveBreaker replaces the stored breaker, which must equal seen, with next. It returns fault.Conflict if the
	// stored breaker differs from seen.
	SaveBreaker(ctx context.Context, endpoint string, seen, next Breaker) error
	// Count records a refresh response, whether or not it is a refusal, in the minute that contains at.
	Count(ctx context.Context, endpoint string, at time.Time, refused bool) error
	// Counts returns the number of responses and the number of refusals since the given time, with a resolution of one
	// minute.
	Counts(ctx context.Context, endpoint string, since time.Time) (answered, refused int, err error)
}

// Breaker records a token endpoint's recent failures.
type Breaker struct {
	Failures  int       // consecutive transient failures
	OpenUntil time.Time // time before which no scheduled refresh is sent; zero if the breaker never opened
}
