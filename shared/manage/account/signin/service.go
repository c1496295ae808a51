package signin

import (
	"io"
	"time"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Service signs users in to the dashboard. Each embedded part implements one way to sign in or one kind of credential,
// and has its own dependencies.
type Service struct {
	AccountSessions
	CodeSignIn
	PasskeyFactor
	TOTPFactor
	RecoveryCodes
	Addresses
}

// New returns a Service with the given dependencies.
func New(d Deps) Service {
	in := entrance{
		post:     post{mailer: d.Mailer, limits: d.Limits, dashboard: d.Dashboard, now: d.Now},
		accounts: d.Accounts, sessions: d.Sessions, random: d.Random,
	}
	proof := codeProof{codes: d.Codes, checker: d.Checker, proofs: d.Proofs}
	recovery := RecoveryCodes{entrance: in, buckets: d.Buckets, hashing: d.Hashing}
	return Service{
		AccountSessions: AccountSessions{in},
		CodeSignIn:      CodeSignIn{entrance: in, codeProof: proof, newID: d.NewID},
		PasskeyFactor:   PasskeyFactor{entrance: in, party: d.Passkeys, recovery: recovery},
		TOTPFactor:      TOTPFactor{entrance: in, buckets: d.Buckets, vault: d.Vault, recovery: recovery},
		RecoveryCodes:   recovery,
		Addresses:       Addresses{entrance: in, codeProof: proof, recovery: recovery},
	}
}

// post sends emails to account addresses.
type post struct {
	mailer    verification.Mailer
	limits    maillimit.Limiter
	dashboard string
	now       func() time.Time
}

// entrance starts sessions and makes account changes that end all other sessions.
type entrance struct {
	post

	accounts Accounts
	sessions Sessions
	random   io.Reader
}

// codeProof sends codes to email addresses and checks the codes that users enter.
type codeProof struct {
	codes   verification.Sender
	checker verification.Checker
	proofs  verification.Proofs
}

// AccountSessions reads the account of a session and ends sessions.
type AccountSessions struct{ entrance }

// CodeSignIn signs users in with emailed codes.
type CodeSignIn struct {
	entrance
	codeProof

	newID ids.Source
}

// PasskeyFactor signs users in with passkeys. It also adds and removes them.
type PasskeyFactor struct {
	entrance

	party    Passkeys
	recovery RecoveryCodes
}

// TOTPFactor verifies codes from authenticator apps. It also adds and removes the apps.
type TOTPFactor struct {
	entrance

	buckets  Buckets
	vault    Vault
	recovery RecoveryCodes
}

// RecoveryCodes creates recovery codes with an account's first second factor and signs in users who enter such a code.
type RecoveryCodes struct {
	entrance

	buckets Buckets
	hashing secret.Keyring
}

// Addresses changes the email addresses of accounts.
type Addresses struct {
	entrance
	codeProof

	recovery RecoveryCodes
}
