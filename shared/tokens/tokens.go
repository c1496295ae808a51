// Package tokens owns a connection's token set: how it is sealed and bound to its row, who may refresh it and when.
// It never logs; it knows no EHR, no AWS and no HTTP. A refresh is a lease and a compare-and-swap, so a rotating
// refresh token is used by one worker at a time and its successor is stored before anything uses it (RFC 9700
// section 4.14, fhir notes section 1.5).
package tokens

import (
	"context"
	"time"

	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

// Purpose stands in the encryption context of sealed token sets.
const Purpose = "tokens"

// Set is an opened token set. Its secrets redact themselves when printed.
type Set struct {
	AccessToken   secret.Text
	RefreshToken  secret.Text // empty when the EHR gave none
	PatientID     secret.Text // the patient's FHIR id at the endpoint
	Scope         string      // granted scopes
	FHIRBase      string
	TokenEndpoint string
	ClientID      string
	ExpiresAt     time.Time // of the access token
}

// Row is a token set as it is stored: sealed, with what the lease needs in the clear.
type Row struct {
	Tenant       org.Tenant
	ConnectionID string
	Sealed       []byte // see Vault
	Version      int64  // one more with every stored token set; part of what Sealed is bound to
	LeaseOwner   string
	LeaseUntil   time.Time
}

// Store keeps the rows.
type Store interface {
	// Tokens reads a row, consistently; fault.NotFound when the connection holds no tokens.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (Row, error)
	// LeaseTokens gives the row to row.LeaseOwner until row.LeaseUntil if its version is still row.Version and no
	// other lease is alive at now; else fault.Conflict.
	LeaseTokens(ctx context.Context, row Row, now time.Time) error
	// RotateTokens stores row.Sealed as version row.Version, ending the lease, if the stored version is one less
	// and row.LeaseOwner still holds the lease; else fault.Conflict.
	RotateTokens(ctx context.Context, row Row) error
}

// Refresher asks the EHR for a new token set (RFC 6749 section 6). The answer keeps what the EHR left out. A
// definite refusal is ErrRefused; everything else is transient.
type Refresher interface {
	Refresh(ctx context.Context, old Set) (Set, error)
}
