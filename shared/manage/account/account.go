// Package account owns the people who use the dashboard: their accounts and sessions, which organisations they are
// members of, as what, and what that allows (docs/adr/0036-the-dashboard.md). An account belongs to no organisation. It
// knows no HTTP, no AWS and no store; signing in is account/signin's, changing members account/members'.
package account

import (
	"strings"
	"time"

	"recordbridge/shared/words/fault"
)

// Account is a person.
type Account struct {
	ID        string // UUID; it is the user handle of passkeys, which tells nobody who that is
	Email     string // as mail goes to it; the only one of an account
	TOTP      TOTP
	Passkeys  []Passkey
	Former    Former
	Epoch     int64 // sessions of another one are over
	CreatedAt time.Time
	Rev       int64 // compare-and-swap revision
}

// TOTP is an account's generator of codes (RFC 6238).
type TOTP struct {
	Sealed []byte    // its secret; nil when there is none
	Since  time.Time // when its first code was right
	Step   int64     // the last time step that a code was taken of: no code works twice (RFC 6238 section 5.2)
	Offer  []byte    // a secret, sealed, of which no code was seen yet
}

// Passkey is a key pair of a person's device or password manager, of which the public half is
// here (W3C WebAuthn level 3).
type Passkey struct {
	ID         string // of the credential, base64url
	Name       string // that its owner has given it
	Credential []byte // what its next use is checked against
	CreatedAt  time.Time
	UsedAt     time.Time // zero before its first use
}

// Former is the address that an account had before its present one, which can take the change back for a while.
type Former struct {
	Email     string
	TokenHash string
	ChangedAt time.Time
	Until     time.Time
}

// HasSecondFactor reports whether a code by e-mail is not enough to sign in.
func (a Account) HasSecondFactor() bool { return a.TOTP.Sealed != nil || len(a.Passkeys) > 0 }

// Place is what an address leads to.
type Place struct {
	AccountID   string
	FormerUntil time.Time // zero for the account's present address; else until when a former one is kept for it
}

// Ceremony is a passkey's registration or use that has begun (W3C WebAuthn level 3 section 4). It ends once.
type Ceremony struct {
	AccountID string // who registers; empty for a use
	State     []byte
	ExpiresAt time.Time
}

// Begun is a ceremony that a browser is asked to go through.
type Begun struct {
	Options   []byte // JSON, as PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON reads it
	Challenge string // that the answer will name
	State     []byte // that finishes it
}

// Claim is what an answer to a ceremony says of itself, before anything of it is proven.
type Claim struct {
	Challenge string
	AccountID string // empty in a registration
}

// MaxMembers bounds an organisation's members, and MaxOrganisations those that an account is a member of.
const (
	MaxMembers       = 100
	MaxOrganisations = 20
)

// Membership is an account's place in an organisation.
type Membership struct {
	OrgID     string
	AccountID string
	Role      Role
	Since     time.Time
	Rev       int64
}

// Invitation asks the owner of an address to become a member. It works once.
type Invitation struct {
	ID         string
	OrgID      string
	Email      string
	Role       Role
	SecretHash string
	InvitedBy  string // account id; empty when an operator did
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Rev        int64
}

// Fold makes two spellings of one address equal: no mail server that matters tells them apart by case.
func Fold(address string) string { return strings.ToLower(address) }

// Actor is how audit rows name an account.
func Actor(accountID string) string { return "member:" + accountID }

// ProofRequired says that what was asked for takes a proof of who asks that is not older than Fresh, or the second
// factor of an account that has one.
func ProofRequired() error {
	return fault.New(fault.Forbidden, fault.CodeProofRequired,
		"Verify your identity again with a passkey, an authenticator app or an e-mailed code.")
}
