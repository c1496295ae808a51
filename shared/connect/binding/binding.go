// Package binding ties a sign-in attempt to the browser and the page that may continue the attempt. A browser starts
// the sign-in with a single-use start value and must return with a state and a cookie. The page that created an attempt
// uses a token to poll the attempt's status. An attempt is a sign-in at a patient portal (package flow) or at an
// identity provider (package tefca/attempt).
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

// Lifetime is the maximum duration of an attempt (docs/reference/deviations.md).
const Lifetime = 30 * time.Minute

// Ticket allows a browser to start an attempt created by one of the service's pages. It holds the hash of the
// single-use start value.
type Ticket struct {
	Hash      string // hex SHA-256 of the start value
	Tenant    org.Tenant
	AttemptID string
	ExpiresAt time.Time
}

// State identifies the attempt of a returning browser. It holds the hash of the state value, which can be used only
// once and only in the browser that received it.
type State struct {
	Hash        string // hex SHA-256 of the state value
	BindingHash string // hex SHA-256 of the browser's cookie
	Tenant      org.Tenant
	AttemptID   string
	ExpiresAt   time.Time
}

// Started holds the redirect URL for an attempt and the cookie that binds the attempt to the browser.
type Started struct {
	URL         string
	CookieName  string
	CookieValue secret.Text
	CookieAge   time.Duration
	Look        Look // the sign-in window's appearance
}

// Failure describes a failed attempt to the page that runs the attempt or to the page that embeds the widget. It
// contains a redirect's error fields and the recommended action, named as in docs/openapi.yaml.
type Failure struct {
	Error           string `json:"error"`
	Description     string `json:"error_description"`
	RequestID       string `json:"request_id"`
	ExternalState   string `json:"external_state,omitempty"`
	PlatformType    string `json:"platform_type,omitempty"`
	Cause           string `json:"cause"`
	SuggestedAction string `json:"suggested_action"`
}

// Maker creates start values, states and cookies. Every field is required.
type Maker struct {
	Random io.Reader
	Now    func() time.Time
}

// Secret returns 256 random bits, encoded in base64url.
func (m Maker) Secret() (string, error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(m.Random, value); err != nil {
		return "", fmt.Errorf("random value: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// Ticket creates a start value and the ticket that associates it with its attempt.
func (m Maker) Ticket(tenant org.Tenant, attemptID string, expiresAt time.Time) (Ticket, secret.Text, error) {
	start, err := m.Secret()
	return Ticket{Hash: Hash(start), Tenant: tenant, AttemptID: attemptID, ExpiresAt: expiresAt}, secret.New(start), err
}

// Bind creates the state value and the cookie that tie an attempt to a browser. The caller must set started.URL.
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

// Hash returns the hexadecimal SHA-256 hash of a value. For secrets held only by a browser, the service stores this
// hash instead of the value.
func Hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// ChosenID returns the attempt ID chosen by a widget, in canonical form, or "" if the widget didn't choose an ID. A
// widget that chooses the ID must also choose the token and send its hash. ChosenID returns an error if exactly one of
// the ID and the token hash is missing.
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

// Taken returns the error for a chosen attempt ID that another attempt already uses.
func Taken(err error) error {
	return fault.New(fault.Conflict, fault.CodeInvalidRequest,
		"This attempt_id can't be used. Generate a new one.").About("attempt_id").Because(err)
}

// Holds reports whether tokenHash is the hash of token. It returns false if the attempt doesn't have a token.
func Holds(tokenHash string, token secret.Text) bool {
	return tokenHash != "" && subtle.ConstantTimeCompare([]byte(Hash(token.Reveal())), []byte(tokenHash)) == 1
}

// Missing returns the error for an attempt that does not exist or is not visible to the caller.
func Missing() error { return fault.Missing("Attempt not found.") }

// StartError returns the error for an unusable start value. The result is a client error if the value is unknown,
// already used or expired, and an internal error otherwise.
func StartError(err error) error {
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
		return fault.BadRequest(
			"This sign-in was already opened or has expired. Return to the application and try again.").Because(err)
	}
	return fmt.Errorf("use start value: %w", err)
}
