// Package verification owns how a patient shows that an e-mail address is theirs: six digits go there, whoever types
// them gets a token, and that token vouches for the address for an hour, to one organisation in one mode. It keeps
// neither addresses nor codes, only keyed hashes of them. It knows no HTTP and no AWS.
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
	// resendAfter is how long nobody gets a second code, since the first is still under way.
	resendAfter = 30 * time.Second
)

// Code is a code that was sent and has not been used.
type Code struct {
	ID        string // a UUID, which the page that asked for it knows
	Tenant    org.Tenant
	Mark      secret.Mark // of the digits
	Address   secret.Mark // whom it went to
	Tries     int         // that were made, or are not given
	ExpiresAt time.Time
}

// Sendings are the codes that went to one mailbox within the last day, oldest first.
type Sendings struct {
	Tenant  org.Tenant
	Mailbox string // keyed hash
	Sent    []Sending
	Rev     int64 // compare-and-swap revision, 0 before the first
}

// Sending is one code on its way to a mailbox.
type Sending struct {
	At      time.Time
	Network string // keyed hash of the network that the request came from
}

// Token is what vouches for an address.
type Token struct {
	Hash      string
	Tenant    org.Tenant
	Address   secret.Mark
	ExpiresAt time.Time
}

// SendStore keeps codes (store.Flow).
type SendStore interface {
	// Sendings reads what is known of a mailbox, which is nothing at first.
	Sendings(ctx context.Context, tenant org.Tenant, mailbox string) (Sendings, error)
	// CreateCode stores a code together with its sending; fault.Conflict when the sendings have
	// changed since they were read.
	CreateCode(ctx context.Context, c Code, s Sendings) error
}

// CheckStore lets codes be tried (store.Flow).
type CheckStore interface {
	// TryCode counts a try and returns the code with it; fault.Conflict when there is no such code, it has ended or all
	// of most tries were made.
	TryCode(ctx context.Context, tenant org.Tenant, id string, now time.Time, most int) (Code, error)
	// ExchangeCode replaces a code by a token; fault.Conflict when another has done so.
	ExchangeCode(ctx context.Context, c Code, t Token) error
}

// TokenStore finds tokens (store.Flow).
type TokenStore interface {
	// EmailToken reads a token of the tenant; fault.NotFound.
	EmailToken(ctx context.Context, tenant org.Tenant, hash string) (Token, error)
}

// Proofs tells whether a token vouches for an address. Every field is needed.
type Proofs struct {
	Store TokenStore
	Keys  secret.Keyring
	Now   func() time.Time
}

// Check is fault.Invalid when the token does not vouch for the address to this tenant: it is unknown, another tenant's,
// another address's or has ended.
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

// What is hashed names its purpose and its tenant, so that no hash says anything about another.
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

// hash is how a token is stored, which nobody can guess.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
