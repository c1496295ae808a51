// Package attempt implements attempts in TEFCA mode (docs/guide/tefca.md). A person signs in at an identity provider,
// and the network is queried with the verified identity. Each facility that the person chooses becomes a connection. An
// attempt is stored as one row, plus a row for each facility. Workers process due rows and may run repeatedly and
// concurrently. The package never logs, queues or discloses personal data.
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
	// Path is the path, relative to the base URL, at which the service's pages create and start attempts.
	Path = "/bridge/tefca/identity"
	// VerifierPurpose is the encryption context for PKCE verifiers.
	VerifierPurpose = "identity-verifier"
	// AssertionPurpose is the purpose in the encryption context for identities and for facilities' identifiers for a
	// person.
	AssertionPurpose = "identity-assertion"
)

// Attempt is one verification of a person's identity, with the network queries for that identity.
type Attempt struct {
	ID            string
	Tenant        org.Tenant
	Status        Status
	TokenHash     string // hex-encoded SHA-256 of the page's polling token
	Provider      string // configured ID of the identity provider
	ExternalID    string
	ExternalState string
	RequestID     string
	Look          binding.Look
	CreatedAt     time.Time
	ExpiresAt     time.Time

	// Authority and Verifier are set when the browser is redirected to the provider. Verifier is deleted after use.
	Authority identity.Authority
	NonceHash string
	Verifier  []byte // encrypted PKCE verifier

	// Assertion is the encrypted identity with which the network is queried. It is deleted at IdentityEnds, the earlier
	// of the token's and the attempt's expiry.
	Assertion    []byte
	IdentityEnds time.Time

	Ending     Ending    // set only if the attempt failed
	Counted    bool      // whether the metric SignIns includes the outcome of the chosen facilities
	LeaseUntil time.Time // expiry of the lease held by the worker that queries the network
	DueAt      time.Time // time at which a worker must next process the attempt; zero if never
	Rev        int64     // incremented by every change; writers must pass the revision that they read
}

// Status is the progress of an attempt.
type Status string

// Statuses of an attempt. Authorizing and Expired are computed, never stored. An attempt is Authorizing while a chosen
// facility is not yet connected, and Expired after its expiry.
const (
	Created     Status = "created"  // the browser has not been redirected yet
	Open        Status = "open"     // the browser has been redirected to the provider
	Locating    Status = "locating" // the identity has been verified and the network is being queried
	Located     Status = "located"  // the person can choose facilities
	Authorizing Status = "authorizing"
	Failed      Status = "failed"
	Expired     Status = "expired"
)

// Ending describes why an attempt failed.
type Ending struct {
	Error       string
	Description string
	Cause       string
	RequestID   string // ID of the request that failed, or the attempt's ID if a worker failed
}

// Facility is a facility that the network reported, with its status in the attempt.
type Facility struct {
	ID        string // ID in the network's directory
	Name      string
	City      string
	State     string
	Match     tefca.Match
	Access    tefca.Access
	Local     []byte  // the facility's encrypted identifiers for the person; deleted with the assertion
	Outcome   Outcome // empty unless the facility was chosen
	Reason    Reason  // set only if the facility failed
	Connected Connected
	// LeaseUntil is the expiry of the lease for reading the facility's record, or zero if no worker holds it.
	LeaseUntil time.Time
	ExpiresAt  time.Time // expiry of the attempt
	Rev        int64
}

// Outcome is the status of a facility that the person chose.
type Outcome string

// Statuses of a chosen facility. A person can choose a failed facility again.
const (
	IsConnecting Outcome = "connecting"
	IsConnected  Outcome = "connected"
	HasFailed    Outcome = "failed"
)

// Connected holds the details of a connection that pages may display.
type Connected struct {
	ConnectionID     string
	ConsentExpiresAt time.Time
}

// Conclusion holds the rows that one transaction stores when a facility is connected.
type Conclusion struct {
	AttemptID string
	Facility  Facility // new state; Rev is the revision that was read
	// Known is the ID of the facility's previous connection with the same VaultKey, or empty if there is none.
	Known      string
	Erased     time.Time             // time of the connection's last erasure, as read from the store
	Connection connection.Connection // replaces the stored connection if Connection has a revision
	Tokens     tokens.Row
	Events     []webhook.Event
}

// Attempts reads attempts.
type Attempts interface {
	// Attempt returns an attempt, using a consistent read. It returns fault.NotFound if the attempt does not exist.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// Saver updates stored attempts.
type Saver interface {
	Attempts
	// SaveAttempt replaces an attempt whose stored revision is a.Rev. It returns fault.Conflict if the attempt has
	// changed.
	SaveAttempt(ctx context.Context, a Attempt) error
}

// Facilities reads attempts and the facilities located for each attempt.
type Facilities interface {
	Attempts
	// Facilities returns an attempt's facilities in an unspecified order, using a consistent read.
	Facilities(ctx context.Context, tenant org.Tenant, attemptID string) ([]Facility, error)
}

// Enqueuer sends messages about attempts to workers. If a message is lost, the sweeper sends another one.
type Enqueuer interface {
	EnqueueAttempt(ctx context.Context, tenant org.Tenant, id string) error
}

// Party starts sign-ins at identity providers and returns errors from package identity; oidc.RelyingParty implements
// it.
type Party interface {
	// Begin returns the URL to which the browser is redirected and the data to store until the browser returns.
	Begin(ctx context.Context, provider identity.Provider, request identity.Request) (string, identity.Authority, error)
}

// Exchanger exchanges an authorization code for the person's identity and returns errors from package identity;
// oidc.RelyingParty implements it. Each code can be used only once.
type Exchanger interface {
	Exchange(ctx context.Context, pinned identity.Authority, back identity.Return) (tefca.Assertion, error)
}

// verifierBinding returns the data to which a verifier's encryption is bound.
func verifierBinding(a Attempt) string { return "identity-verifier|" + a.Tenant.Key() + "|" + a.ID }

// vaultKey returns a key derived from the person in an assertion and the organisation's external ID. Each facility has
// at most one connection per vault key. The key is a plain hash, because it must not change when hashing keys are
// rotated. A plain hash is safe, because an issuer and subject can't be guessed.
func vaultKey(who tefca.Assertion, externalID string) string {
	return binding.Hash(personKey(who.Issuer, who.Subject) + "|" + externalID)
}

// personKey returns the key shared by all of a person's connections.
func personKey(issuer, subject string) string { return binding.Hash(issuer + "|" + subject) }

// hasToken reports whether token is the attempt's polling token.
func (a Attempt) hasToken(token secret.Text) bool { return binding.Holds(a.TokenHash, token) }

// hasExpired reports whether the attempt has expired.
func (a Attempt) hasExpired(now time.Time) bool {
	return a.Status != Failed && !now.Before(a.ExpiresAt)
}

// isVerified reports whether the attempt's identity may still be used to query the network.
func (a Attempt) isVerified(now time.Time) bool {
	return len(a.Assertion) > 0 && now.Before(a.IdentityEnds)
}
