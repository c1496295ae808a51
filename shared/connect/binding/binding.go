// Package binding owns what ties an attempt to those who may go on with it: the start value that a browser leaves
// one of our pages with, the state and the cookie that its return has to show, and the token that the page which
// made the attempt asks with. An attempt is a sign-in at a patient portal (package flow) or at an identity provider
// (package tefca/attempt).
package binding

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Lifetime of an attempt (docs/reference/deviations.md).
const Lifetime = 30 * time.Minute

// Ticket is what a browser begins an attempt with that a page of ours has made: the hash of the
// start value, usable once.
type Ticket struct {
	Hash      string // SHA-256 of the start value, hex
	Tenant    org.Tenant
	AttemptID string
	ExpiresAt time.Time
}

// State is what a return is found by: the hash of the state value, usable once, by the browser it was given to.
type State struct {
	Hash        string // SHA-256 of the state value, hex
	BindingHash string // SHA-256 of the browser's cookie, hex
	Tenant      org.Tenant
	AttemptID   string
	ExpiresAt   time.Time
}

// Started is an attempt on its way: where the browser goes, and the cookie that binds it.
type Started struct {
	URL         string
	CookieName  string
	CookieValue secret.Text
	CookieAge   time.Duration
}

// Failure is what a page of ours shows, or tells the page that it is on, of an attempt that failed. It has the error
// fields of a redirect, and what to do about it, by the names of docs/openapi.yaml.
type Failure struct {
	Error           string `json:"error"`
	Description     string `json:"error_description"`
	RequestID       string `json:"request_id"`
	ExternalState   string `json:"external_state,omitempty"`
	Cause           string `json:"cause"`
	SuggestedAction string `json:"suggested_action"`
}

// Maker makes what binds. Every field is needed.
type Maker struct {
	Random io.Reader
	Now    func() time.Time
}

// Secret returns 256 random bits in base64url.
func (m Maker) Secret() (string, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(m.Random, value); err != nil {
		return "", fmt.Errorf("random value: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// Ticket makes a start value, and the ticket of an attempt that it is known by.
func (m Maker) Ticket(tenant org.Tenant, attemptID string, expiresAt time.Time) (Ticket, secret.Text, error) {
	start, err := m.Secret()
	return Ticket{Hash: Hash(start), Tenant: tenant, AttemptID: attemptID, ExpiresAt: expiresAt}, secret.New(start), err
}

// Bind makes the state value of a browser that is about to leave, and the cookie that has to come back with it. Where
// the browser goes its caller adds.
func (m Maker) Bind(tenant org.Tenant, attemptID string,
	expiresAt time.Time,
) (value string, state State, started Started, err error) {
	if value, err = m.Secret(); err != nil {
		return "", State{}, Started{}, err
	}
	random, err := m.Secret()
	if err != nil {
		return "", State{}, Started{}, err
	}
	now := m.Now()
	cookie := cookieValue(random, now)
	state = State{Hash: Hash(value), BindingHash: Hash(cookie), Tenant: tenant, AttemptID: attemptID, ExpiresAt: expiresAt}
	return value, state, Started{
		CookieName: CookieName(value), CookieValue: secret.New(cookie),
		CookieAge: expiresAt.Sub(now),
	}, nil
}

// Hash is how the values are kept that only a browser knows: SHA-256, hex.
func Hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// Own is the id that a widget has chosen for its attempt itself, as ids are written; empty when it has not. It chooses
// the token, too, of which it says the hash, or neither.
func Own(attemptID, tokenHash string) (id string, err error) {
	if attemptID == "" && tokenHash == "" {
		return "", nil
	}
	id, ok := ids.ParseRandom(attemptID)
	if !ok {
		return "",
			fault.BadRequest("attempt_id must be a random UUID (version 4) and requires " +
				"token_hash.").About("attempt_id")
	}
	if len(tokenHash) != 2*sha256.Size || strings.Trim(tokenHash, "0123456789abcdef") != "" || tokenHash == Hash("") {
		return "", fault.BadRequest("token_hash must be the SHA-256 hash of the attempt token, as 64 lower-case hex " +
			"digits, and requires attempt_id.").About("token_hash")
	}
	return id, nil
}

// Taken tells whoever has chosen an id that it is another attempt's.
func Taken(err error) error {
	return fault.New(fault.Conflict, fault.CodeInvalidRequest,
		"This attempt_id can't be used. Generate a new one.").About("attempt_id").Because(err)
}

// Holds reports whether token is the attempt token of which the hash is kept. Nobody has that
// of an attempt without one.
func Holds(tokenHash string, token secret.Text) bool {
	return tokenHash != "" && subtle.ConstantTimeCompare([]byte(Hash(token.Reveal())), []byte(tokenHash)) == 1
}

// Missing is the answer for an attempt that is not there for who asks, whatever the reason.
func Missing() error { return fault.Missing("Attempt not found.") }

// Spent tells a start value that does not work from a failure of our own.
func Spent(err error) error {
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
		return fault.BadRequest(
			"This sign-in was already opened or has expired. Return to the application and try again.").Because(err)
	}
	return fmt.Errorf("use start value: %w", err)
}
