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

// codeClient is the error code for a client that is unknown or that failed to authenticate (RFC 6749 section 5.2).
const codeClient = "invalid_client"

// OAuthError reports a token endpoint's response without a token. OAuthError retains only the error code, and only if
// RFC 6749 section 5.2 defines the code, because health systems' error texts may name patients.
type OAuthError struct {
	Code   string // error code; empty for a web page, an unknown code, or a 2xx response without a token
	Status int
	// RetryAfter is the delay that the server requests, or zero if the server does not request a delay.
	RetryAfter time.Duration
	// AmbiguousBasic reports whether the cause of an invalid_client error may be that the server interprets HTTP Basic
	// differently. Servers interpret the values either decoded, as in RFC 6749 section 2.3.1, or raw. AmbiguousBasic is
	// true if decoding changes the client ID or the secret.
	AmbiguousBasic bool

	textLength int    // length of error_description
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

// Definite reports whether the grant itself was rejected: consent was withdrawn or expired, or the code or refresh
// token was already used. Definite ignores the status, because servers send invalid_grant with 400, 401 and 403. Only a
// definite rejection may revoke a connection.
func (e *OAuthError) Definite() bool { return e.Code == "invalid_grant" }

// Unspent reports whether the response proves that the grant was not used. The proof is a 429 status, or an RFC 6749
// error code other than invalid_grant. After any other response, such as a web page or a 500, the server may already
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

// Failure returns the class and status for a log line (fault.Spot). The class is the error code. Without an error code,
// the class is the class of a FHIR server's response with the same status.
func (e *OAuthError) Failure() (class string, status int) {
	switch {
	case e.Code != "":
		return e.Code, e.Status
	case e.Status/100 == 2:
		return string(fhir.Content), e.Status
	}
	return string(classOf(e.Status)), e.Status
}

// stale reports whether the token endpoint may have moved since its URL was stored. After a move, the old URL no longer
// exists, or its server does not recognise our client. Either response means that the grant was not used.
func (e *OAuthError) stale() bool {
	return e.Code == codeClient || e.Code == "" && e.Status == http.StatusNotFound
}

// isTemporary reports whether the status indicates a temporary failure of the server.
func (e *OAuthError) isTemporary() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// class identifies who must act: the patient (definite), the operator (registration) or nobody (transient).
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

// newOAuthError retains the parts of an error response that may be stored.
func newOAuthError(status int, code, text string) *OAuthError {
	failure := &OAuthError{Status: status, textLength: len(text)}
	if status == http.StatusUnauthorized && code == "unauthorized_client" {
		code = codeClient // a 401 means failed client authentication (RFC 6749 section 5.2; Keycloak)
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
