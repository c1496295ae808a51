// Package account owns the users of the dashboard: their accounts and sessions, their memberships and roles in
// organisations, and the permissions of those roles (docs/adr/0036-the-dashboard.md). An account belongs to no
// organisation. The package depends on no HTTP, no AWS and no store. Signing in is implemented in account/signin, and
// changing members in account/members.
package account

import (
	"strings"
	"time"

	"recordbridge/shared/words/fault"
)

// Account is a person's account.
type Account struct {
	ID        string // UUID; also the passkeys' user handle, which reveals no identity
	Email     string // in its original spelling; an account has only one
	TOTP      TOTP
	Passkeys  []Passkey
	Former    Former
	Epoch     int64 // sessions of another epoch are invalid
	CreatedAt time.Time
	Rev       int64 // compare-and-swap revision
}

// TOTP is the state of an account's authenticator app (RFC 6238).
type TOTP struct {
	Sealed []byte    // its secret; nil if there is none
	Since  time.Time // time of the first correct code
	Step   int64     // time step of the last accepted code: no code works twice (RFC 6238 section 5.2)
	Offer  []byte    // a sealed secret that no code has confirmed yet
}

// Passkey is the public half of a key pair on a person's device or in a password manager (W3C WebAuthn level 3).
type Passkey struct {
	ID         string // of the credential, base64url
	Name       string // chosen by its owner
	Credential []byte // against which its next use is verified
	CreatedAt  time.Time
	UsedAt     time.Time // zero before its first use
}

// Former is an account's previous email address, from which the change can be reverted for a limited time.
type Former struct {
	Email     string
	TokenHash string
	ChangedAt time.Time
	Until     time.Time
}

// HasSecondFactor reports whether a code by e-mail alone is not enough to sign in.
func (a Account) HasSecondFactor() bool { return a.TOTP.Sealed != nil || len(a.Passkeys) > 0 }

// AddressOwner is the account that an email address belongs to.
type AddressOwner struct {
	AccountID   string
	FormerUntil time.Time // zero for the account's present address; else the end of a former one's reservation
}

// Ceremony is a passkey registration or authentication under way (W3C WebAuthn level 3 section 4). It can be completed
// once.
type Ceremony struct {
	AccountID string // of the registering account; empty for an authentication
	State     []byte
	ExpiresAt time.Time
}

// Begun is a ceremony for the browser to perform.
type Begun struct {
	Options   []byte // JSON for PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON
	Challenge string // that the response will contain
	State     []byte // needed to finish the ceremony
}

// Claim holds the unverified statements in a response to a ceremony.
type Claim struct {
	Challenge string
	AccountID string // empty in a registration
}

// MaxMembers limits an organisation's members, and MaxOrganisations the organisations of an account.
const (
	MaxMembers       = 100
	MaxOrganisations = 20
)

// Membership is an account's membership of an organisation.
type Membership struct {
	OrgID     string
	AccountID string
	Role      Role
	Since     time.Time
	Rev       int64
}

// Invitation invites the owner of an email address to become a member. It works once.
type Invitation struct {
	ID         string
	OrgID      string
	Email      string
	Role       Role
	SecretHash string
	InvitedBy  string // account id; empty if an operator invited
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Rev        int64
}

// Fold makes two spellings of an email address equal: no relevant mail server distinguishes them by case.
func Fold(address string) string { return strings.ToLower(address) }

// Actor returns the name of an account in audit rows.
func Actor(accountID string) string { return "member:" + accountID }

// ProofRequired returns the error for a request that needs a proof of identity no older than Fresh, or the second
// factor of an account that has one.
func ProofRequired() error {
	return fault.New(fault.Forbidden, fault.CodeProofRequired,
		"Verify your identity again with a passkey, an authenticator app or an e-mailed code.")
}
