// Package verification owns the proof that a patient owns an e-mail address: six digits are sent there, entering them
// yields a token, and the token proves ownership for an hour, to one organisation in one mode. The package stores only
// keyed hashes of addresses and codes. It depends on no HTTP and no AWS.
package verification

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	codeLife  = 5 * time.Minute
	tokenLife = time.Hour
	tries     = 5
	// resendAfter is the time before a second code can be sent, because the first may still be under way.
	resendAfter = 30 * time.Second
)

// Code is an unused code that was sent.
type Code struct {
	ID        string // a UUID, known to the page that requested the code
	Tenant    org.Tenant
	Mark      secret.Mark // of the digits
	Address   secret.Mark // of the recipient
	Tries     int         // that were made or are not allowed
	ExpiresAt time.Time
}

// Sendings holds the codes sent to one mailbox within the last day, oldest first.
type Sendings struct {
	Tenant  org.Tenant
	Mailbox string // keyed hash
	Sent    []Sending
	Rev     int64 // compare-and-swap revision, 0 before the first
}

// Sending is one code sent to a mailbox.
type Sending struct {
	At      time.Time
	Network string // keyed hash of the requesting network
}

// Token proves ownership of an email address.
type Token struct {
	Hash      string
	Tenant    org.Tenant
	Address   secret.Mark
	ExpiresAt time.Time
}

// SendStore stores codes (store.Flow).
type SendStore interface {
	// Sendings reads the sendings of a mailbox, which are empty at first.
	Sendings(ctx context.Context, tenant org.Tenant, mailbox string) (Sendings, error)
	// CreateCode stores a code together with its sending; fault.Conflict if the sendings changed since they were read.
	CreateCode(ctx context.Context, c Code, s Sendings) error
}

// CheckStore counts tries of codes and exchanges codes (store.Flow).
type CheckStore interface {
	// TryCode counts a try and returns the code including it; fault.Conflict if there is no such code, it has expired, or
	// all of most tries are used.
	TryCode(ctx context.Context, tenant org.Tenant, id string, now time.Time, most int) (Code, error)
	// ExchangeCode replaces a code with a token; fault.Conflict if that has already happened.
	ExchangeCode(ctx context.Context, c Code, t Token) error
}

// TokenStore reads tokens (store.Flow).
type TokenStore interface {
	// EmailToken reads a token of the tenant; fault.NotFound.
	EmailToken(ctx context.Context, tenant org.Tenant, hash string) (Token, error)
}

// Proofs verifies that a token proves ownership of an address. Every field is required.
type Proofs struct {
	Store TokenStore
	Keys  secret.Keyring
	Now   func() time.Time
}

// Check returns fault.Invalid if the token does not prove ownership of the address to this tenant: it is unknown,
// expired, or belongs to another tenant or address.
func (p Proofs) Check(ctx context.Context, tenant org.Tenant, token secret.Text, a Address) error {
	found, err := p.Store.EmailToken(ctx, tenant, hash(token.Reveal()))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read e-mail token: %w", err)
	}
	if err != nil || !p.Now().Before(found.ExpiresAt) || !p.Keys.Check(addressText(tenant, a), found.Address) {
		return fault.BadRequest(
			"email_token is not, or no longer, good for this email. Verify the address again.").About("email_token").Because(err)
	}
	return nil
}

// The hashed text contains its purpose and its tenant, so that no hash reveals anything about another.
func addressText(t org.Tenant, a Address) []byte { return text("address", t, a.same()) }

func networkText(s Sendings, network string) []byte {
	return text("network", s.Tenant, s.Mailbox, network)
}

func mailboxText(t org.Tenant, a Address, device string) []byte {
	if device == "" {
		return text("mailbox", t, a.mailbox())
	}
	return text("mailbox", t, a.mailbox(), device)
}

func codeText(t org.Tenant, id, digits string) []byte {
	return text("code", t, id, digits)
}

func text(purpose string, t org.Tenant, parts ...string) []byte {
	return []byte("email\x00" + purpose + "\x00" + t.Key() + "\x00" + strings.Join(parts, "\x00"))
}

// hash returns the form in which a token, which cannot be guessed, is stored.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
