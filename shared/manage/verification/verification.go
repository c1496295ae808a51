// Package verification proves that a patient owns an email address. The package sends a six-digit code to the address.
// After the patient enters the code, the package returns a token that proves ownership to one organisation in one mode.
// The token is valid for one hour. The package stores only keyed hashes of addresses and codes, and does not depend on
// HTTP or AWS.
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
	// resendAfter is the minimum time between two codes, because the first code may still be in transit.
	resendAfter = 30 * time.Second
)

// Code is a code that has been sent but not used.
type Code struct {
	ID        string // UUID known to the page that requested the code
	Tenant    org.Tenant
	Mark      secret.Mark // keyed hash of the digits
	Address   secret.Mark // keyed hash of the recipient's address
	Tries     int         // number of attempts made or withheld
	ExpiresAt time.Time
}

// Sendings holds the codes sent to a mailbox within the last day, oldest first.
type Sendings struct {
	Tenant  org.Tenant
	Mailbox string // keyed hash of the mailbox
	Sent    []Sending
	Rev     int64 // revision for compare-and-swap writes; 0 before the first code
}

// Sending records a single code sent to a mailbox.
type Sending struct {
	At      time.Time
	Network string // keyed hash of the network that requested the code
}

// Token records a proof of ownership of an email address.
type Token struct {
	Hash      string
	Tenant    org.Tenant
	Address   secret.Mark
	ExpiresAt time.Time
}

// SendStore stores the codes to be sent (store.Flow).
type SendStore interface {
	// Sendings reads the codes that were sent to a mailbox. It returns empty Sendings if no codes were sent.
	Sendings(ctx context.Context, tenant org.Tenant, mailbox string) (Sendings, error)
	// CreateCode stores a code together with its Sending. It returns fault.Conflict if the Sendings have changed since
	// they were read.
	CreateCode(ctx context.Context, c Code, s Sendings) error
}

// CheckStore counts attempts to enter codes and exchanges codes for tokens (store.Flow).
type CheckStore interface {
	// TryCode counts an attempt to enter a code and returns the code, including the attempt. It returns fault.Conflict
	// if the code does not exist, has expired, or has no attempts left.
	TryCode(ctx context.Context, tenant org.Tenant, id string, now time.Time, most int) (Code, error)
	// ExchangeCode replaces a code with a token. It returns fault.Conflict if the code was already exchanged.
	ExchangeCode(ctx context.Context, c Code, t Token) error
}

// TokenStore reads tokens (store.Flow).
type TokenStore interface {
	// EmailToken reads a token of the tenant. It returns fault.NotFound if the token does not exist.
	EmailToken(ctx context.Context, tenant org.Tenant, hash string) (Token, error)
}

// Proofs verifies that a token proves ownership of an email address. Every field is required.
type Proofs struct {
	Store TokenStore
	Keys  secret.Keyring
	Now   func() time.Time
}

// Check returns fault.Invalid if the token does not prove to this tenant that the patient owns the email address. The
// token may be unknown or expired, or it may belong to another tenant or address.
func (p Proofs) Check(ctx context.Context, tenant org.Tenant, token secret.Text, a Address) error {
	found, err := p.Store.EmailToken(ctx, tenant, hash(token.Reveal()))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read e-mail token: %w", err)
	}
	if err != nil || !p.Now().Before(found.ExpiresAt) || !p.Keys.Check(addressText(tenant, a), found.Address) {
		return fault.BadRequest(
			"email_token is not valid for this email or has expired. Verify the address " +
				"again.").About("email_token").Because(err)
	}
	return nil
}

// The hashed text contains its purpose and tenant, so equal values with different tenants or purposes have different
// hashes.
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

// hash returns the stored form of a token. A plain hash suffices because tokens can't be guessed.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
