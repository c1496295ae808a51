package signin

import (
	"io"
	"time"

	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Service lets people in. Each part has the rules of one way to sign in, or of one thing that an account has, and
// holds what these need.
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

// post sends e-mails to accounts' addresses.
type post struct {
	mailer    verification.Mailer
	limits    maillimit.Limiter
	dashboard string
	now       func() time.Time
}

// entrance starts sessions, and changes accounts in ways that end the others.
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

// CodeSignIn lets people in by codes that are sent to their addresses.
type CodeSignIn struct {
	entrance
	codeProof

	newID ids.Source // of accounts
}

// PasskeyFactor lets people in by passkeys, and adds and removes these.
type PasskeyFactor struct {
	entrance

	party    Passkeys
	recovery RecoveryCodes
}

// TOTPFactor proves second factors by generators of codes, and adds and removes these.
type TOTPFactor struct {
	entrance

	buckets  Buckets
	vault    Vault
	recovery RecoveryCodes
}

// RecoveryCodes makes recovery codes, which come with an account's first second factor, and lets people in by them.
type RecoveryCodes struct {
	entrance

	buckets Buckets
	hashing secret.Keyring
}

// Addresses changes accounts' addresses.
type Addresses struct {
	entrance
	codeProof

	recovery RecoveryCodes
}
