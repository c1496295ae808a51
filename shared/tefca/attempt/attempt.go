// Package attempt owns one attempt of TEFCA mode (docs/guide/tefca.md): a person leaves for an identity provider, the network
// is asked with the identity that comes back, and each facility that the person chooses becomes a connection. What has
// to outlive a crash stands in the attempt's row and in one row for each facility; the worker does what is due, however
// often and by however many it is told. It speaks to providers and networks through interfaces, and knows no HTTP and
// no AWS. Nothing of the person is logged, queued or told.
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
	// Path is where a page of ours makes attempts and lets browsers leave, behind the base URL.
	Path = "/bridge/tefca/identity"
	// VerifierPurpose stands in the encryption context of sealed PKCE verifiers.
	VerifierPurpose = "identity-verifier"
	// AssertionPurpose stands in that of identities, and of what facilities know a person by.
	AssertionPurpose = "identity-assertion"
)

// Attempt is one verification of who a person is, and what is done with it.
type Attempt struct {
	ID            string
	Tenant        org.Tenant
	Status        Status
	TokenHash     string // SHA-256 of what the page asks after its attempt with, hex
	Provider      string // id of the identity provider in our configuration
	ExternalID    string
	ExternalState string
	RequestID     string
	CreatedAt     time.Time
	ExpiresAt     time.Time

	// What is made when the browser leaves. The verifier goes with its use.
	Authority identity.Authority
	NonceHash string
	Verifier  []byte // PKCE verifier, sealed

	// Assertion is what the network is asked with, sealed; it goes at IdentityEnds, which is the end of the token or that
	// of the attempt, whichever is sooner.
	Assertion    []byte
	IdentityEnds time.Time

	Ending     Ending    // once it has failed
	LeaseUntil time.Time // of who asks the network for facilities
	DueAt      time.Time // when the worker has to look; zero for never
	Rev        int64     // one more with every change; who changes it names the one that was read
}

// Status is how far an attempt is.
type Status string

// The statuses. Authorizing and Expired are decided on reading and never stored: while a chosen facility is not
// connected yet, and when the time of the attempt has passed.
const (
	Created     Status = "created"  // its browser has not left yet
	Open        Status = "open"     // the browser is at the provider
	Locating    Status = "locating" // the identity is verified, and the network is asked who has records
	Located     Status = "located"  // facilities may be chosen
	Authorizing Status = "authorizing"
	Failed      Status = "failed"
	Expired     Status = "expired"
)

// Ending is what an attempt failed of.
type Ending struct {
	Error       string
	Description string
	Cause       string
	RequestID   string // of the request that ended it; the attempt's own where the worker did
}

// Facility is one that the network has told of, and what has become of it.
type Facility struct {
	ID        string // in the network's directory
	Name      string
	City      string
	State     string
	Match     tefca.Match
	Access    tefca.Access
	Local     []byte  // how the facility knows the person, sealed; goes with the assertion
	Outcome   Outcome // empty for one that was not chosen
	Reason    Reason  // of one that has failed
	Connected Connected
	// LeaseUntil is until when somebody reads the record of a chosen one; zero for nobody.
	LeaseUntil time.Time
	ExpiresAt  time.Time // of the attempt
	Rev        int64
}

// Outcome is what has become of a chosen facility.
type Outcome string

// The outcomes. One that has failed may be chosen again.
const (
	IsConnecting Outcome = "connecting"
	IsConnected  Outcome = "connected"
	HasFailed    Outcome = "failed"
)

// Connected is what a page is told of a connection.
type Connected struct {
	ConnectionID     string
	ConsentExpiresAt time.Time
}

// Conclusion is everything that connecting a facility stores, in one transaction.
type Conclusion struct {
	AttemptID string
	Facility  Facility // as it becomes; Rev is the one that was read
	// connection that the connection's VaultKey has named for the facility so far; empty for none
	Known      string
	Erased     time.Time             // when such a one was erased last, as it was read
	Connection connection.Connection // one with a revision replaces it
	Tokens     tokens.Row
	Events     []webhook.Event
}

// Attempts reads attempts.
type Attempts interface {
	// Attempt reads an attempt, consistently; fault.NotFound.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// Saver replaces attempts.
type Saver interface {
	Attempts
	// SaveAttempt replaces revision a.Rev of an attempt; fault.Conflict when it has changed.
	SaveAttempt(ctx context.Context, a Attempt) error
}

// Facilities reads attempts with what was located.
type Facilities interface {
	Attempts
	// Facilities lists an attempt's, consistently, in no order.
	Facilities(ctx context.Context, tenant org.Tenant, attemptID string) ([]Facility, error)
}

// Enqueuer tells the workers about an attempt. Lost messages are made up for by the sweeper.
type Enqueuer interface {
	EnqueueAttempt(ctx context.Context, tenant org.Tenant, id string) error
}

// Party speaks to identity providers (oidc.Party). Its errors are package identity's.
type Party interface {
	// Begin returns where a browser is sent, and what is to be kept for its return.
	Begin(ctx context.Context, provider identity.Provider, request identity.Request) (string, identity.Authority, error)
}

// Exchanger gets the identity that a return stands for (oidc.Party). Its errors are package
// identity's. A code works once.
type Exchanger interface {
	Exchange(ctx context.Context, pinned identity.Authority, back identity.Return) (tefca.Assertion, error)
}

// verifierBinding is what a sealed verifier is bound to.
func verifierBinding(a Attempt) string { return "identity-verifier|" + a.Tenant.Key() + "|" + a.ID }

// vaultKey names an assertion's person together with the organisation's own id: each facility has one connection of it.
// It is no keyed hash, whose keys rotate: the same person has to come to the same name for years, and issuer and
// subject cannot be guessed by who knows neither.
func vaultKey(who tefca.Assertion, externalID string) string {
	return binding.Hash(personKey(who.Issuer, who.Subject) + "|" + externalID)
}

// personKey is the name under which all connections of a person are found.
func personKey(issuer, subject string) string { return binding.Hash(issuer + "|" + subject) }

// held reports whether token is the attempt's.
func (a Attempt) held(token secret.Text) bool { return binding.Holds(a.TokenHash, token) }

// hasExpired reports whether the attempt's time has passed.
func (a Attempt) hasExpired(now time.Time) bool {
	return a.Status != Failed && !now.Before(a.ExpiresAt)
}

// isVerified reports whether the network may still be asked.
func (a Attempt) isVerified(now time.Time) bool {
	return len(a.Assertion) > 0 && now.Before(a.IdentityEnds)
}
