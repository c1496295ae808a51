package signin

import (
	"io"
	"time"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Service signs users in. Each part implements one way to sign in or one kind of credential, and holds its
// dependencies.
type Service struct {
	AccountSessions
	CodeSignIn
	PasskeyFactor
	TOTPFactor
	RecoveryCodes
	Addresses
}

// New returns a Service.
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

// post sends e-mails to the addresses of accounts.
type post struct {
	mailer    verification.Mailer
	limits    maillimit.Limiter
	dashboard string
	now       func() time.Time
}

// entrance starts sessions, and changes accounts in ways that end the other sessions.
type entrance struct {
	post

	accounts Accounts
	sessions Sessions
	random   io.Reader
}

// codeProof sends codes to addresses and checks them.
type codeProof struct {
	codes   verification.Sender
	checker verification.Checker
	proofs  verification.Proofs
}

// AccountSessions reads the account of a session, and ends sessions.
type AccountSessions struct{ entrance }

// CodeSignIn signs users in by codes sent to their addresses.
type CodeSignIn struct {
	entrance
	codeProof

	newID ids.Source // of accounts
}

// PasskeyFactor signs users in by passkeys, and adds and removes passkeys.
type PasskeyFactor struct {
	entrance

	party    Passkeys
	recovery RecoveryCodes
}

// TOTPFactor proves second factors by authenticator app, and adds and removes authenticators.
type TOTPFactor struct {
	entrance

	buckets  Buckets
	vault    Vault
	recovery RecoveryCodes
}

// RecoveryCodes creates recovery codes, which come with an account's first second factor, and signs users in by them.
type RecoveryCodes struct {
	entrance

	buckets Buckets
	hashing secret.Keyring
}

// Addresses changes the addresses of accounts.
type Addresses struct {
	entrance
	codeProof

	recovery RecoveryCodes
}
