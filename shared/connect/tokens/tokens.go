// Package tokens manages a connection's token set. It seals each token set and binds it to its row, implements the
// refresh rules, and interprets refusals. The package writes no log entries, revokes no tokens, and does not depend on
// AWS, HTTP or any particular EHR. A refresh uses a lease, a mark that survives a crash, and a compare-and-swap, so
// only one worker at a time uses a rotating refresh token. If the outcome of a refresh request is unknown, its refresh
// token may be tried once more. A token's successor is stored before it is used (RFC 9700 section 4.14).
package tokens

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Purpose is the encryption context's purpose value for sealed token sets.
const Purpose = "tokens"

// Set holds a decrypted token set. The set's secrets are redacted when printed.
type Set struct {
	AccessToken   secret.Text
	RefreshToken  secret.Text // empty if the EHR didn't issue one
	PatientID     secret.Text // the patient's FHIR ID at the endpoint
	Scope         string      // granted scope
	AskedScope    string      // scope requested from the patient
	RepeatScope   bool        // whether every refresh must repeat the scope
	EndpointID    string      // ID in the catalogue; the endpoint's pins limit where tokens are sent
	FHIRBase      string
	TokenEndpoint string
	ClientID      string
	ClientAuthID  string    // ID of the credentials for ClientID; empty for a public client
	RawBasic      bool      // whether HTTP Basic sends the client ID and secret unencoded (catalog.ClientUse)
	ExpiresAt     time.Time // expiry of the access token

	// RevocationEndpoint revokes the refresh token (RFC 7009), and IntrospectionEndpoint returns the token's expiry
	// (RFC 7662). An empty URL means that the server has no such endpoint. IntrospectBearer reports whether
	// introspection authenticates with the access token instead of the client's credentials.
	RevocationEndpoint    string
	IntrospectionEndpoint string
	IntrospectBearer      bool
	// ConsentExpiresAt is the end of the patient's consent. RefreshExpiresAt is the time at which the refresh token
	// expires if it is not used. Each time is zero if it is unknown.
	ConsentExpiresAt time.Time
	RefreshExpiresAt time.Time
	// ConsentStated reports whether ConsentExpiresAt is the stated end of the consent itself. If ConsentStated is
	// false, ConsentExpiresAt is a refresh token's expiry, which may change with every refresh.
	ConsentStated bool
	// Extra holds the token response fields that later calls to the platform need, by name. A value is "" if the EHR
	// has not sent the field yet. Extra has at most MaxExtra fields, all with names that MayBeExtra accepts. The values
	// are not secret but may reveal a patient's practice, so they are sealed and never logged.
	Extra map[string]string
	// Records locates the cached record for a TEFCA connection whose facility has documents. For any other connection,
	// Records is nil. If FHIRBase is empty, the connection has no server to query.
	Records *Records
}

// Row is a stored token set. The token set is encrypted; the lease fields are not.
type Row struct {
	Tenant       org.Tenant
	ConnectionID string
	Sealed       []byte // encrypted token set (see Vault)
	Version      int64  // incremented with every stored token set; Sealed is bound to it
	LeaseOwner   string
	LeaseUntil   time.Time
	// RefreshStartedAt is the start of the first refresh that used this version's refresh token and whose outcome is
	// unknown, or zero if there is none. The refresh is still in progress, has crashed, or never received its response.
	RefreshStartedAt time.Time
}

// Store persists the rows of token sets.
type Store interface {
	// Tokens returns a connection's row, using a consistent read. It returns fault.NotFound if the connection has no
	// tokens.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (Row, error)
	// LeaseTokens leases the row to row.LeaseOwner until row.LeaseUntil. It sets RefreshStartedAt to now if
	// RefreshStartedAt is zero. It returns fault.Conflict if the stored version or RefreshStartedAt differs from the
	// value in row, or if another lease is active at now.
	LeaseTokens(ctx context.Context, row Row, now time.Time) error
	// ReleaseTokens ends the lease. It returns fault.Conflict if row.LeaseOwner no longer holds the lease for
	// row.Version. ReleaseTokens clears the stored RefreshStartedAt only if row.RefreshStartedAt is zero.
	ReleaseTokens(ctx context.Context, row Row) error
	// RotateTokens stores row.Sealed as version row.Version if the stored version is row.Version minus one, regardless
	// of the lease's owner. It returns fault.Conflict for any other stored version. RotateTokens clears the lease and
	// RefreshStartedAt. If the write collides with another transaction, RotateTokens returns fault.Conflict and leaves
	// the stored version unchanged.
	RotateTokens(ctx context.Context, row Row) error
}

// Refresher requests a new token set from the EHR (RFC 6749 section 6). If a refresh token, patient ID, scope or extra
// field is missing from the response, the previous value is kept. The scope requested from the patient remains
// unchanged. A definite refusal is ErrRefused; every other error is transient. A transient error whose Unspent() bool
// method returns true means that the refresh token was not used. Errors must not contain token material.
type Refresher interface {
	Refresh(ctx context.Context, tenant org.Tenant, old Set) (Set, error)
}

// Limiter limits the number of concurrent refreshes at a token endpoint.
type Limiter interface {
	// Acquire waits for a slot at the endpoint with the given URL. Every error from Acquire has an Unspent() bool
	// method that returns true.
	Acquire(ctx context.Context, tokenEndpoint string) (Slot, error)
}

// Slot permits one request to a token endpoint.
type Slot interface {
	// Until returns the deadline for the request.
	Until() time.Time
	// Release releases the slot and records the call's outcome. The outcome is the Refresher's error, or nil if the
	// token endpoint returned tokens. Release may be slow. After a response, Manager tries to store the new token set
	// before it calls Release.
	Release(ctx context.Context, outcome error)
}
