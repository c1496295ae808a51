// Package tokens owns a connection's token set: how it is sealed and bound to its row, who may refresh it and
// when, and what a refusal means. It never logs; it knows no EHR, no AWS and no HTTP, and it revokes nothing. A
// refresh is a lease, a mark that outlives a crash, and a compare-and-swap: a rotating refresh token is used by
// one worker at a time, once more after a use whose end is unknown, and its successor is stored before anything
// uses it (RFC 9700 section 4.14).
package tokens

import (
	"context"
	"time"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Purpose stands in the encryption context of sealed token sets.
const Purpose = "tokens"

// Set is an opened token set. Its secrets redact themselves when printed.
type Set struct {
	AccessToken   secret.Text
	RefreshToken  secret.Text // empty when the EHR gave none
	PatientID     secret.Text // the patient's FHIR id at the endpoint
	Scope         string      // granted scopes
	AskedScope    string      // requested from the patient
	RepeatScope   bool        // every refresh has to name them again
	EndpointID    string      // in the catalogue; its pins say where the tokens may go
	FHIRBase      string
	TokenEndpoint string
	ClientID      string
	ClientAuthID  string    // how ClientID proves who it is; empty for a public client
	RawBasic      bool      // client id and secret stand in HTTP Basic as they are (catalog.ClientUse)
	ExpiresAt     time.Time // of the access token

	// RevocationEndpoint takes the refresh token back (RFC 7009), IntrospectionEndpoint tells when it ends (RFC
	// 7662); each is empty when there is none. IntrospectBearer asks with the access token instead of the
	// client's authentication.
	RevocationEndpoint    string
	IntrospectionEndpoint string
	IntrospectBearer      bool
	// ConsentExpiresAt is when the patient's consent ends, as far as anybody says, and
	// RefreshExpiresAt when an unused refresh token does; zero when unknown.
	ConsentExpiresAt time.Time
	RefreshExpiresAt time.Time
	// ConsentStated says that ConsentExpiresAt was said of the consent itself. Else it is the end of a refresh token,
	// which may move with every refresh.
	ConsentStated bool
	// Extra are fields of the token answer that the platform needs on later calls, by name; "" for one that the EHR has
	// not sent yet. There are at most MaxExtra, of names that MayBeExtra. They are no secrets, but may tell which practice
	// a patient goes to: they are sealed and never logged.
	Extra map[string]string
	// Records tells where the record is cached, of a TEFCA connection whose facility has documents; nil for every other.
	// Where FHIRBase is empty there is no server to ask.
	Records *Records
}

// Row is a token set as it is stored: sealed, with what the lease needs in the clear.
type Row struct {
	Tenant       org.Tenant
	ConnectionID string
	Sealed       []byte // see Vault
	Version      int64  // one more with every stored token set; part of what Sealed is bound to
	LeaseOwner   string
	LeaseUntil   time.Time
	// RefreshStartedAt is when the refresh token of this version was first used without an end that is known: by a
	// refresh under way, one that crashed, or one whose answer was lost. Zero when there is no such use.
	RefreshStartedAt time.Time
}

// Store keeps the rows.
type Store interface {
	// Tokens reads a row, consistently; fault.NotFound when the connection holds no tokens.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (Row, error)
	// LeaseTokens gives the row to row.LeaseOwner until row.LeaseUntil and sets RefreshStartedAt to now where it is
	// zero, if version and RefreshStartedAt are still row's and no other lease is alive at now; else fault.Conflict.
	LeaseTokens(ctx context.Context, row Row, now time.Time) error
	// ReleaseTokens ends the lease if row.LeaseOwner still holds that of row.Version; else fault.Conflict. A zero
	// row.RefreshStartedAt clears the stored one, any other leaves it.
	ReleaseTokens(ctx context.Context, row Row) error
	// RotateTokens stores row.Sealed as version row.Version if the stored version is one less, whoever has the lease;
	// else fault.Conflict. It clears the lease and RefreshStartedAt. Some conflicts are only collisions with other
	// writers: the version that is stored tells.
	RotateTokens(ctx context.Context, row Row) error
}

// Refresher asks the EHR for a new token set (RFC 6749 section 6). A refresh token, patient id, scope or extra fields
// that the answer leaves empty stay as they were, and so does what the patient was asked for. A definite refusal is
// ErrRefused; everything else is transient. A transient error with a method Unspent() bool that returns true says that
// the refresh token was not used. No error may hold token material.
type Refresher interface {
	Refresh(ctx context.Context, tenant org.Tenant, old Set) (Set, error)
}

// Limiter lets so many refreshes at a token endpoint happen at once.
type Limiter interface {
	// Acquire waits for a slot at the endpoint, whose URL is given, and may refuse one: such an error has a method
	// Unspent() bool that returns true.
	Acquire(ctx context.Context, tokenEndpoint string) (Slot, error)
}

// Slot is the right to ask a token endpoint once.
type Slot interface {
	// Until is when the call has to have ended.
	Until() time.Time
	// Release gives the slot back, and tells how the call ended: with the Refresher's error, or with an answer. It may
	// take its time, so after an answer it comes when the new set is stored or could not be.
	Release(ctx context.Context, outcome error)
}
