package smart

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"recordbridge/shared/fhir"
)

// codeClient is the error code for an unknown client or failed client authentication (RFC 6749 section 5.2).
const codeClient = "invalid_client"

// OAuthError is a token endpoint's response that contains no token. OAuthError never contains the server's error text,
// which may name patients. An OAuthError retains the error code only if RFC 6749 section 5.2 defines the code.
type OAuthError struct {
	Code   string // error code; empty for a web page, an unknown code, or a 2xx response without a token
	Status int
	// RetryAfter is the delay that the server requested, or zero if the server did not request a delay.
	RetryAfter time.Duration
	// AmbiguousBasic reports whether an invalid_client error may be caused by the encoding of HTTP Basic credentials.
	// Some servers form-decode the values, as in RFC 6749 section 2.3.1, and others read them unchanged. AmbiguousBasic
	// is true if form-decoding would change the client ID or the secret.
	AmbiguousBasic bool

	textLength int    // length of error_description in bytes
	textHash   string // hash of error_description, to recognise repeated texts
}

// Error implements error.
func (e *OAuthError) Error() string {
	code := e.Code
	if code == "" {
		code = "no OAuth error code"
	}
	return "token endpoint: " + code + " (status " + strconv.Itoa(e.Status) + ")"
}

// Definite reports whether the server rejected the grant itself, because consent was withdrawn or expired, or the code
// or refresh token was already used. The status is ignored, because servers send invalid_grant with 400, 401 and 403.
// Only a definite rejection may revoke a connection.
func (e *OAuthError) Definite() bool { return e.Code == "invalid_grant" }

// Unspent reports whether the response proves that the grant was not used: its status is 429, or its error code is an
// RFC 6749 code other than invalid_grant. After any other response, such as a web page or a 500, the server may already
// have used the refresh token.
func (e *OAuthError) Unspent() bool {
	return !e.Definite() && (e.Code != "" || e.Status == http.StatusTooManyRequests)
}

// LogValue implements slog.LogValuer.
func (e *OAuthError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("code", e.Code),
		slog.String("class", e.class()),
		slog.Int("status", e.Status),
		slog.Int("text_length", e.textLength),
		slog.String("text_hash", e.textHash),
		slog.Bool("basic_ambiguous", e.AmbiguousBasic),
	)
}

// Failure returns the error's class and status, which fault.Spot records for the log line. The class is the error code
// or, if there is none, the class of a FHIR server's response with the same status.
func (e *OAuthError) Failure() (class string, status int) {
	switch {
	case e.Code != "":
		return e.Code, e.Status
	case e.Status/100 == 2:
		return string(fhir.Content), e.Status
	}
	return string(classOf(e.Status)), e.Status
}

// stale reports whether the error suggests that the token endpoint has moved: either the URL no longer exists, or its
// server does not recognise the client. In either case, the server has not used the grant.
func (e *OAuthError) stale() bool {
	return e.Code == codeClient || e.Code == "" && e.Status == http.StatusNotFound
}

func (e *OAuthError) isTemporary() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// class indicates who must act on a failure: the patient ("definite"), the operator ("registration") or nobody
// ("transient").
func (e *OAuthError) class() string {
	switch e.Code {
	case "invalid_grant":
		return "definite"
	case "":
		return "transient"
	default:
		return "registration"
	}
}

// newOAuthError returns an OAuthError with the parts of a response that may be stored.
func newOAuthError(status int, code, text string) *OAuthError {
	failure := &OAuthError{Status: status, textLength: len(text)}
	if status == http.StatusUnauthorized && code == "unauthorized_client" {
		code = codeClient // a 401 means that client authentication failed (RFC 6749 section 5.2; Keycloak)
	}
	switch code {
	case "invalid_request", codeClient, "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		failure.Code = code
	}
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		failure.textHash = hex.EncodeToString(sum[:8])
	}
	return failure
}
