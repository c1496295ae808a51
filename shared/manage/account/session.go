package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const (
	sessionLife = 12 * time.Hour
	idleLife    = 2 * time.Hour
	pendingLife = 15 * time.Minute // time limit for verifying the second factor
	// freshFor is the time after a proof of identity during which sensitive actions are allowed.
	freshFor = 15 * time.Minute
	// seenEvery is the minimum interval between updates of the time of a session's last request.
	seenEvery = 5 * time.Minute
)

// Session is a sign-in to the dashboard from one browser. The token exists only in that browser's cookie.
type Session struct {
	Hash      string // hash of the session token
	AccountID string
	Epoch     int64     // account's epoch when the session started
	Pending   bool      // set until the second factor is verified; until then, the session allows nothing else
	ProvenAt  time.Time // time of the last proof of identity
	StartedAt time.Time
	SeenAt    time.Time // time of the last request, accurate to within five minutes
}

// FreshUntil returns the time until which the session may perform sensitive actions without a new proof of identity.
func (s Session) FreshUntil() time.Time { return s.ProvenAt.Add(freshFor) }

// EndsAt returns the time at which the session expires without further requests.
func (s Session) EndsAt() time.Time {
	if idle := s.SeenAt.Add(idleLife); idle.Before(s.ExpiresAt()) {
		return idle
	}
	return s.ExpiresAt()
}

// ExpiresAt returns the session's absolute expiry, regardless of activity.
func (s Session) ExpiresAt() time.Time {
	if s.Pending {
		return s.StartedAt.Add(pendingLife)
	}
	return s.StartedAt.Add(sessionLife)
}

// NewToken returns a session token: 256 random bits, encoded as 43 base64url characters.
func NewToken(random io.Reader) (secret.Text, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(random, value); err != nil {
		return secret.Text{}, fmt.Errorf("random token: %w", err)
	}
	return secret.New(base64.RawURLEncoding.EncodeToString(value)), nil
}

// Hash returns the hash under which a token is stored. A plain hash suffices because tokens can't be guessed.
func Hash(token secret.Text) string {
	sum := sha256.Sum256([]byte(token.Reveal()))
	return hex.EncodeToString(sum[:])
}

// CSRFToken returns a token that is available only to pages that may read the session's responses. It is derived from
// the session token, so it needs no storage and expires with the session.
func CSRFToken(session secret.Text) string {
	mac := hmac.New(sha256.New, []byte(session.Reveal()))
	mac.Write([]byte("recordbridge csrf"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// SessionRows reads sessions. store.Flow implements it.
type SessionRows interface {
	// Session reads a session with a consistent read. It returns fault.NotFound if the session does not exist.
	Session(ctx context.Context, hash string) (Session, error)
	// TouchSession records the time of a request. It returns fault.Conflict if the session has ended.
	TouchSession(ctx context.Context, hash string, at time.Time) error
}

// Rows reads accounts and their memberships. store.Accounts implements it.
type Rows interface {
	// Account reads an account with a consistent read. It returns fault.NotFound if the account does not exist.
	Account(ctx context.Context, id string) (Account, error)
	// Membership reads a membership with a consistent read. It returns fault.NotFound if the membership does not exist.
	Membership(ctx context.Context, orgID, accountID string) (Membership, error)
}

// Sessions looks up sessions. It doesn't cache sessions, so a session's first request after its end is rejected.
type Sessions struct {
	Rows     SessionRows
	Accounts Rows
	Now      func() time.Time
}

// Session returns the session that a token identifies. The token may be arbitrary client input. An invalid token or
// ended session results in fault.Unauthenticated.
func (s Sessions) Session(ctx context.Context, token secret.Text) (Session, error) {
	found, err := s.Rows.Session(ctx, Hash(token))
	if err != nil {
		return Session{}, over(err)
	}
	now := s.Now()
	if !now.Before(found.EndsAt()) {
		return Session{}, over(nil)
	}
	owner, err := s.Accounts.Account(ctx, found.AccountID)
	if err != nil {
		return Session{}, over(err)
	}
	if owner.Epoch != found.Epoch {
		return Session{}, over(nil)
	}
	if now.Sub(found.SeenAt) >= seenEvery {
		if err := s.Rows.TouchSession(ctx, found.Hash, now); err != nil {
			return Session{}, over(err)
		}
	}
	return found, nil
}

// Role returns the role of an account in an organisation. It returns fault.NotFound if the account is not a member.
func (s Sessions) Role(ctx context.Context, accountID, orgID string) (Role, error) {
	found, err := s.Accounts.Membership(ctx, orgID, accountID)
	if err != nil {
		return "", fmt.Errorf("read membership: %w", err)
	}
	return found.Role, nil
}

// over returns fault.Unauthenticated if err means that the session has ended. Any other error is wrapped as an internal
// error.
func over(err error) error {
	if err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("find session: %w", err)
	}
	return fault.New(fault.Unauthenticated, fault.CodeSessionRequired, "Sign in to continue.").Because(err)
}
