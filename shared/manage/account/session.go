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
	pendingLife = 15 * time.Minute // to prove the second factor in
	// freshFor is how long a proof is good for what matters most.
	freshFor = 15 * time.Minute
	// seenEvery is how often a session's last request is written down.
	seenEvery = 5 * time.Minute
)

// Session is one browser's sign-in. Its token is in that browser's cookie and nowhere else.
type Session struct {
	Hash      string // of its token
	AccountID string
	Epoch     int64     // of the account when it began
	Pending   bool      // the account's second factor is still to be proven, and nothing else can be done
	ProvenAt  time.Time // when it was last proven who it is
	StartedAt time.Time
	SeenAt    time.Time // its last request, to five minutes
}

// FreshUntil is until when what matters most can be done.
func (s Session) FreshUntil() time.Time { return s.ProvenAt.Add(freshFor) }

// EndsAt is when the session is over if no request comes; ExpiresAt when it is in any case.
func (s Session) EndsAt() time.Time {
	if idle := s.SeenAt.Add(idleLife); idle.Before(s.ExpiresAt()) {
		return idle
	}
	return s.ExpiresAt()
}

// ExpiresAt is when the session is over however much it is used.
func (s Session) ExpiresAt() time.Time {
	if s.Pending {
		return s.StartedAt.Add(pendingLife)
	}
	return s.StartedAt.Add(sessionLife)
}

// NewToken makes what a session is known by: 256 random bits, 43 characters of base64url.
func NewToken(random io.Reader) (secret.Text, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(random, value); err != nil {
		return secret.Text{}, fmt.Errorf("random token: %w", err)
	}
	return secret.New(base64.RawURLEncoding.EncodeToString(value)), nil
}

// Hash is how tokens are stored, which nobody can guess.
func Hash(token secret.Text) string {
	sum := sha256.Sum256([]byte(token.Reveal()))
	return hex.EncodeToString(sum[:])
}

// CSRFToken is what a page that may read a session's answers knows of it, and a page of others does not. The session's
// own token is the key, so that nothing is stored for it and it ends with the session.
func CSRFToken(session secret.Text) string {
	mac := hmac.New(sha256.New, []byte(session.Reveal()))
	mac.Write([]byte("recordbridge csrf"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// SessionRows reads sessions (store.Flow).
type SessionRows interface {
	// Session reads a session, consistently; fault.NotFound.
	Session(ctx context.Context, hash string) (Session, error)
	// SeeSession notes a request; fault.Conflict when the session is over.
	SeeSession(ctx context.Context, hash string, at time.Time) error
}

// Rows reads accounts and what they are members of (store.Accounts).
type Rows interface {
	// Account reads an account, consistently; fault.NotFound.
	Account(ctx context.Context, id string) (Account, error)
	// Membership reads one, consistently; fault.NotFound.
	Membership(ctx context.Context, orgID, accountID string) (Membership, error)
}

// Sessions finds sessions. Nothing of what it reads is kept, so that the next request knows what has ended.
type Sessions struct {
	Rows     SessionRows
	Accounts Rows
	Now      func() time.Time
}

// Session finds the session of a token, which may be anything that a client sent. fault.Unauthenticated
// when it is none or is over.
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
		if err := s.Rows.SeeSession(ctx, found.Hash, now); err != nil {
			return Session{}, over(err)
		}
	}
	return found, nil
}

// Role is what an account is in an organisation; fault.NotFound when it is nothing there.
func (s Sessions) Role(ctx context.Context, accountID, orgID string) (Role, error) {
	found, err := s.Accounts.Membership(ctx, orgID, accountID)
	if err != nil {
		return "", fmt.Errorf("read membership: %w", err)
	}
	return found.Role, nil
}

// over tells a session that is no more from a failure of our own.
func over(err error) error {
	if err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("find session: %w", err)
	}
	return fault.New(fault.Unauthenticated, fault.CodeSessionRequired, "Sign in to continue.").Because(err)
}
