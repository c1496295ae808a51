// Package binding owns the values that tie an attempt to the browser and page entitled to continue it. A browser leaves
// one of our pages with a start value, and its return must present a state and a cookie. The page that created the
// attempt polls its status with a token. An attempt is a sign-in at a patient portal (package flow) or at an identity
// provider (package tefca/attempt).
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

// Lifetime is the lifetime of an attempt (docs/reference/deviations.md).
const Lifetime = 30 * time.Minute

// Ticket lets a browser start an attempt that one of our pages created. It holds the hash of the single-use start
// value.
type Ticket struct {
	Hash      string // SHA-256 of the start value, hex
	Tenant    org.Tenant
	AttemptID string
	ExpiresAt time.Time
}

// State identifies the attempt that a return belongs to. It holds the hash of the state value, which works once, in the
// browser that received it.
type State struct {
	Hash        string // SHA-256 of the state value, hex
	BindingHash string // SHA-256 of the browser's cookie, hex
	Tenant      org.Tenant
	AttemptID   string
	ExpiresAt   time.Time
}

// Started is an attempt under way: the URL that the browser goes to, and the cookie that binds the attempt to it.
type Started struct {
	URL         string
	CookieName  string
	CookieValue secret.Text
	CookieAge   time.Duration
}

// Failure describes a failed attempt to one of our pages or to the page that embeds it. It has the error fields of a
// redirect and the recommended action, named as in docs/openapi.yaml.
type Failure struct {
	Error           string `json:"error"`
	Description     string `json:"error_description"`
	RequestID       string `json:"request_id"`
	ExternalState   string `json:"external_state,omitempty"`
	Cause           string `json:"cause"`
	SuggestedAction string `json:"suggested_action"`
}

// Maker makes start values, states and cookies. Every field is required.
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

// Ticket makes a start value and the ticket that identifies its attempt.
func (m Maker) Ticket(tenant org.Tenant, attemptID string, expiresAt time.Time) (Ticket, secret.Text, error) {
	start, err := m.Secret()
	return Ticket{Hash: Hash(start), Tenant: tenant, AttemptID: attemptID, ExpiresAt: expiresAt}, secret.New(start), err
}

// Bind makes the state value for a browser that is about to leave, and the cookie that must come back with it. The
// caller sets the URL that the browser goes to.
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

// Hash returns the form in which values that only a browser knows are stored: SHA-256, hex.
func Hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// ChosenID returns, in canonical form, the attempt id that a widget chose itself, or "" if it chose none. A widget that
// chooses the id also chooses the token, whose hash it sends; it chooses both or neither.
func ChosenID(attemptID, tokenHash string) (id string, err error) {
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

// Taken returns the error for a chosen id that belongs to another attempt.
func Taken(err error) error {
	return fault.New(fault.Conflict, fault.CodeInvalidRequest,
		"This attempt_id can't be used. Generate a new one.").About("attempt_id").Because(err)
}

// Holds reports whether token is the attempt token whose hash is tokenHash. No token matches an attempt that has none.
func Holds(tokenHash string, token secret.Text) bool {
	return tokenHash != "" && subtle.ConstantTimeCompare([]byte(Hash(token.Reveal())), []byte(tokenHash)) == 1
}

// Missing returns the error for an attempt that the caller cannot see, whatever the reason.
func Missing() error { return fault.Missing("Attempt not found.") }

// StartError returns the error for a start value that could not be used: the client's fault if it was unknown, used or
// expired, else an internal error.
func StartError(err error) error {
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
		return fault.BadRequest(
			"This sign-in was already opened or has expired. Return to the application and try again.").Because(err)
	}
	return fmt.Errorf("use start value: %w", err)
}
