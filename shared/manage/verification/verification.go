// Package verification proves that a patient owns an email address. The package sends a six-digit code to the address.
// In exchange for the code, it issues a token that proves ownership to one organisation in one mode. The token is valid
// for one hour. The package stores only keyed hashes of addresses and codes, and does not depend on HTTP or AWS.
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
	// resendAfter is the minimum interval between two codes. During this interval, the email with the first code may
	// still be in transit.
	resendAfter = 30 * time.Second
)

// Code is a code that has been sent but not yet used.
type Code struct {
	ID        string // UUID, known to the page that requested the code
	Tenant    org.Tenant
	Mark      secret.Mark // keyed hash of the code's digits
	Address   secret.Mark // keyed hash of the recipient's address
	Tries     int         // number of attempts already used, or withheld by the daily limit
	ExpiresAt time.Time
}

// Sendings holds the codes sent to a mailbox within the last day, oldest first.
type Sendings struct {
	Tenant  org.Tenant
	Mailbox string // keyed hash of the mailbox
	Sent    []Sending
	Rev     int64 // revision, checked when saving; 0 before the first code
}

// Sending records one code sent to a mailbox.
type Sending struct {
	At      time.Time
	Network string // keyed hash of the network that requested the code
}

// Token records proof of ownership of an email address.
type Token struct {
	Hash      string
	Tenant    org.Tenant
	Address   secret.Mark
	ExpiresAt time.Time
}

// SendStore stores codes and the history of codes sent to each mailbox; store.Flow implements it.
type SendStore interface {
	// Sendings reads a mailbox's send history. If there is no history, it returns empty Sendings.
	Sendings(ctx context.Context, tenant org.Tenant, mailbox string) (Sendings, error)
	// CreateCode stores a code and the updated Sendings. It returns fault.Conflict if the Sendings have changed since
	// they were read.
	CreateCode(ctx context.Context, c Code, s Sendings) error
}

// CheckStore counts attempts to enter codes and exchanges codes for tokens; store.Flow implements it.
type CheckStore interface {
	// TryCode counts an attempt to enter a code, and returns the code with its updated count. It returns fault.Conflict
	// if the code does not exist, has expired, or has no attempts left.
	TryCode(ctx context.Context, tenant org.Tenant, id string, now time.Time, most int) (Code, error)
	// ExchangeCode replaces a code with a token. It returns fault.Conflict if the code was already exchanged.
	ExchangeCode(ctx context.Context, c Code, t Token) error
}

// TokenStore reads tokens; store.Flow implements it.
type TokenStore interface {
	// EmailToken reads one of a tenant's tokens. It returns fault.NotFound if the token does not exist.
	EmailToken(ctx context.Context, tenant org.Tenant, hash string) (Token, error)
}

// Proofs verifies tokens that prove ownership of an email address. All fields are required.
type Proofs struct {
	Store TokenStore
	Keys  secret.Keyring
	Now   func() time.Time
}

// Check returns fault.Invalid if the token does not prove to the tenant that the patient owns the email address. An
// invalid token may be unknown or expired, or belong to another tenant or address.
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

// Hashed texts contain their purpose and tenant, so that equal values have different hashes for different purposes and
// tenants.
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

// hash returns the hash under which a token is stored. An unkeyed hash is sufficient because tokens can't be guessed.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
