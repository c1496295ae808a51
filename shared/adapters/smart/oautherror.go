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

// codeClient is the code of RFC 6749 section 5.2 for a client that is unknown or could not prove who it is.
const codeClient = "invalid_client"

// OAuthError is an answer of a token endpoint that brought no token. Of the answer only the code is kept, and that
// only if RFC 6749 section 5.2 knows it; texts of health systems may name patients.
type OAuthError struct {
	Code   string // empty for anything that is no such code: a web page, a code of its own, a good status without a token
	Status int
	// RetryAfter is how long the server wants to be left alone; zero when it does not say.
	RetryAfter time.Duration
	// AmbiguousBasic says that an invalid_client may only mean that the server reads HTTP Basic in the other way: decoded
	// as RFC 6749 section 2.3.1 has it, or as it is. Client id and secret are not the same in both.
	AmbiguousBasic bool

	textLength int    // of error_description
	textHash   string // of error_description, to recognise one that comes again
}

// Error implements error.
func (e *OAuthError) Error() string {
	code := e.Code
	if code == "" {
		code = "no OAuth error code"
	}
	return "token endpoint: " + code + " (status " + strconv.Itoa(e.Status) + ")"
}

// Definite reports whether the grant itself is refused: consent withdrawn or expired, code or refresh token used. The
// status does not count, since servers send invalid_grant with 400, 401 and 403. Nothing else
// may ever revoke a connection.
func (e *OAuthError) Definite() bool { return e.Code == "invalid_grant" }

// Unspent reports whether the answer shows that the grant was not used: a code of RFC 6749 other than invalid_grant, or
// too many requests. Anything else, a page or a 500, may have come after a refresh token was spent.
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

// Failure tells for a log line (fault.Spot) the code, or what a FHIR server's answer with the
// same status would be called.
func (e *OAuthError) Failure() (class string, status int) {
	switch {
	case e.Code != "":
		return e.Code, e.Status
	case e.Status/100 == 2:
		return string(fhir.Content), e.Status
	}
	return string(classOf(e.Status)), e.Status
}

// stale reports whether the answer may mean that the token endpoint has moved since its address was stored: nothing is
// there any more, or something is that does not know us. In neither case was the grant used.
func (e *OAuthError) stale() bool {
	return e.Code == codeClient || e.Code == "" && e.Status == http.StatusNotFound
}

// passes reports whether the status speaks of the server's own trouble, which the next hour may find gone.
func (e *OAuthError) passes() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// class says whose move it is: the patient's (definite), the operator's (registration) or nobody's (transient).
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

// newOAuthError keeps what may be kept of an error answer.
func newOAuthError(status int, code, text string) *OAuthError {
	failure := &OAuthError{Status: status, textLength: len(text)}
	if status == http.StatusUnauthorized && code == "unauthorized_client" {
		code = codeClient // 401 is for who could not prove who it is, whatever some call it (RFC 6749 section 5.2; Keycloak)
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
