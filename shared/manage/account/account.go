// Package account defines the users of the dashboard: their accounts, sessions, memberships and roles in organisations,
// and the permissions of those roles (docs/adr/0036-the-dashboard.md). Accounts exist independently of organisations.
// Package account/signin implements sign-in, and package account/members changes members.
package account

import (
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/version"
)

// Account is a person's dashboard account.
type Account struct {
	ID        string // UUID; also the user handle of passkeys, which reveals no identity
	Email     string // email address in its original spelling
	TOTP      TOTP
	Passkeys  []Passkey
	Former    Former
	Epoch     int64 // sessions with a different epoch are invalid
	CreatedAt time.Time
	Rev       int64 // revision for compare-and-swap writes
}

// TOTP holds the state of an account's authenticator app (RFC 6238).
type TOTP struct {
	Sealed []byte    // encrypted secret; nil if there is no secret
	Since  time.Time // time at which the app was confirmed by its first correct code
	Step   int64     // time step of the last accepted code; each code can be used only once (RFC 6238 section 5.2)
	Offer  []byte    // encrypted secret that has not been confirmed by a code
}

// Passkey holds the public part of a passkey's key pair. The private key stays on the user's device or in a password
// manager (W3C WebAuthn level 3).
type Passkey struct {
	ID         string // base64url credential ID
	Name       string // name that the passkey's owner chose
	Credential []byte // public key and state used to verify the passkey's next use
	CreatedAt  time.Time
	UsedAt     time.Time // zero until the first use
}

// Former holds an account's previous email address, which can revert the change for a limited time.
type Former struct {
	Email     string
	TokenHash string
	ChangedAt time.Time
	Until     time.Time
}

// HasSecondFactor reports whether sign-in requires more than an emailed code.
func (a Account) HasSecondFactor() bool { return a.TOTP.Sealed != nil || len(a.Passkeys) > 0 }

// AddressOwner names the account that owns an email address.
type AddressOwner struct {
	AccountID   string
	FormerUntil time.Time // time at which the reservation of a former address ends; zero for the current address
}

// Ceremony is a passkey registration or authentication in progress (W3C WebAuthn level 3 section 4). A ceremony can be
// completed only once.
type Ceremony struct {
	AccountID string // account that registers the passkey; empty for an authentication
	State     []byte
	ExpiresAt time.Time
}

// Begun holds the data that the browser needs to begin a passkey ceremony.
type Begun struct {
	Options   []byte // JSON for parseCreationOptionsFromJSON or parseRequestOptionsFromJSON
	Challenge string // challenge that the response must contain
	State     []byte // state needed to finish the ceremony
}

// Claim holds unverified values from a ceremony's response.
type Claim struct {
	Challenge string
	AccountID string // empty for a registration
}

// MaxMembers is the maximum number of members in an organisation. MaxOrganisations is the maximum number of
// organisations of an account.
const (
	MaxMembers       = 100
	MaxOrganisations = 20
)

// Membership makes an account a member of an organisation.
type Membership struct {
	OrgID     string
	AccountID string
	Role      Role
	Since     time.Time
	Rev       int64
}

// Version returns the version of the member's role.
func (m Membership) Version() string { return version.Of([]string{string(m.Role)}) }

// Invitation invites the owner of an email address to become a member. It can be accepted only once.
type Invitation struct {
	ID         string
	OrgID      string
	Email      string
	Role       Role
	SecretHash string
	InvitedBy  string // account ID; empty if an operator created the invitation
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Rev        int64
}

// Fold returns an email address in lower case, for comparison. In practice, mail servers ignore case.
func Fold(address string) string { return strings.ToLower(address) }

// Actor returns the name that identifies an account in audit-log rows.
func Actor(accountID string) string { return "member:" + accountID }

// ProofRequired returns the error for a request that needs a recent proof of identity or, for an account that has one,
// the second factor.
func ProofRequired() error {
	return fault.New(fault.Forbidden, fault.CodeProofRequired,
		"Verify your identity again with a passkey, an authenticator app or an e-mailed code.")
}
