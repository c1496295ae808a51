// Package attempt owns attempts of TEFCA mode (docs/guide/tefca.md). A person signs in at an identity provider, the
// network is queried with the verified identity, and each facility that the person chooses becomes a connection. State
// that must survive a crash is stored in the attempt's row and in one row for each facility. The worker processes due
// rows and may run repeatedly and concurrently. The package talks to providers and networks through interfaces and is
// independent of HTTP and AWS. Personal data is never logged, queued or disclosed.
package attempt

import (
	"context"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// Path is the path, below the base URL, where the service's pages create and start attempts.
	Path = "/bridge/tefca/identity"
	// VerifierPurpose is the encryption context of sealed PKCE verifiers.
	VerifierPurpose = "identity-verifier"
	// AssertionPurpose is the encryption context of identities, and of facilities' local identifiers of a person.
	AssertionPurpose = "identity-assertion"
)

// Attempt is one verification of a person's identity and the queries made with it.
type Attempt struct {
	ID            string
	Tenant        org.Tenant
	Status        Status
	TokenHash     string // hex SHA-256 of the page's polling token
	Provider      string // the identity provider's configured id
	ExternalID    string
	ExternalState string
	RequestID     string
	CreatedAt     time.Time
	ExpiresAt     time.Time

	// Set when the browser leaves for the provider. The verifier is deleted after use.
	Authority identity.Authority
	NonceHash string
	Verifier  []byte // sealed PKCE verifier

	// Assertion is the sealed identity for querying the network. It is deleted at IdentityEnds, the expiry of the token or
	// the attempt, whichever is sooner.
	Assertion    []byte
	IdentityEnds time.Time

	Ending     Ending    // only of a failed attempt
	LeaseUntil time.Time // held by the worker that queries the network
	DueAt      time.Time // next time due for the worker; zero for never
	Rev        int64     // incremented by every change; a writer must give the revision that it read
}

// Status is an attempt's progress.
type Status string

// The statuses. Authorizing and Expired are computed on reading and never stored. An attempt is Authorizing while a
// chosen facility is not connected yet, and Expired once its time has passed.
const (
	Created     Status = "created"  // the browser has not left yet
	Open        Status = "open"     // the browser is at the provider
	Locating    Status = "locating" // the identity is verified and the network is being queried
	Located     Status = "located"  // facilities may be chosen
	Authorizing Status = "authorizing"
	Failed      Status = "failed"
	Expired     Status = "expired"
)

// Ending describes the failure of an attempt.
type Ending struct {
	Error       string
	Description string
	Cause       string
	RequestID   string // id of the request that failed; the attempt's own if the worker failed
}

// Facility is a facility that the network reported, with its status.
type Facility struct {
	ID        string // in the network's directory
	Name      string
	City      string
	State     string
	Match     tefca.Match
	Access    tefca.Access
	Local     []byte  // the facility's identifiers of the person, sealed; deleted with the assertion
	Outcome   Outcome // empty if not chosen
	Reason    Reason  // only if it has failed
	Connected Connected
	// LeaseUntil is the expiry of the lease for reading a chosen facility's record; zero if not leased.
	LeaseUntil time.Time
	ExpiresAt  time.Time // the attempt's expiry
	Rev        int64
}

// Outcome is the status of a chosen facility.
type Outcome string

// The outcomes. A failed facility may be chosen again.
const (
	IsConnecting Outcome = "connecting"
	IsConnected  Outcome = "connected"
	HasFailed    Outcome = "failed"
)

// Connected holds the details of a connection that a page may see.
type Connected struct {
	ConnectionID     string
	ConsentExpiresAt time.Time
}

// Conclusion holds everything that connecting a facility stores, in one transaction.
type Conclusion struct {
	AttemptID string
	Facility  Facility // its new state; Rev is the revision that was read
	// the facility's previous connection under the connection's VaultKey; empty if none
	Known      string
	Erased     time.Time             // last erasure of such a connection, as read
	Connection connection.Connection // replaces the stored one if it has a revision
	Tokens     tokens.Row
	Events     []webhook.Event
}

// Attempts reads attempts.
type Attempts interface {
	// Attempt returns an attempt with a consistent read; fault.NotFound if it does not exist.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// Saver replaces attempts.
type Saver interface {
	Attempts
	// SaveAttempt replaces revision a.Rev of an attempt; fault.Conflict if it has changed.
	SaveAttempt(ctx context.Context, a Attempt) error
}

// Facilities reads attempts and their located facilities.
type Facilities interface {
	Attempts
	// Facilities lists an attempt's facilities with a consistent read, unordered.
	Facilities(ctx context.Context, tenant org.Tenant, attemptID string) ([]Facility, error)
}

// Enqueuer sends workers a message about an attempt. The sweeper makes up for lost messages.
type Enqueuer interface {
	EnqueueAttempt(ctx context.Context, tenant org.Tenant, id string) error
}

// Party starts the sign-in at identity providers (oidc.RelyingParty). Its errors are those of package identity.
type Party interface {
	// Begin returns the URL for the browser, and the data to store for its return.
	Begin(ctx context.Context, provider identity.Provider, request identity.Request) (string, identity.Authority, error)
}

// Exchanger exchanges a browser's return for the identity (oidc.RelyingParty). Its errors are those of package
// identity. A code is valid once.
type Exchanger interface {
	Exchange(ctx context.Context, pinned identity.Authority, back identity.Return) (tefca.Assertion, error)
}

// verifierBinding returns the data that a sealed verifier is bound to.
func verifierBinding(a Attempt) string { return "identity-verifier|" + a.Tenant.Key() + "|" + a.ID }

// vaultKey identifies an assertion's person together with the organisation's external id. Each facility has at most one
// connection per vault key. It uses a plain hash, because keyed hashes change when keys rotate and the same person must
// get the same vault key for years. Issuer and subject cannot be guessed.
func vaultKey(who tefca.Assertion, externalID string) string {
	return binding.Hash(personKey(who.Issuer, who.Subject) + "|" + externalID)
}

// personKey returns the key under which all connections of a person are found.
func personKey(issuer, subject string) string { return binding.Hash(issuer + "|" + subject) }

// hasToken reports whether token is the attempt's.
func (a Attempt) hasToken(token secret.Text) bool { return binding.Holds(a.TokenHash, token) }

// hasExpired reports whether the attempt has expired.
func (a Attempt) hasExpired(now time.Time) bool {
	return a.Status != Failed && !now.Before(a.ExpiresAt)
}

// isVerified reports whether the identity is still valid for querying the network.
func (a Attempt) isVerified(now time.Time) bool {
	return len(a.Assertion) > 0 && now.Before(a.IdentityEnds)
}
