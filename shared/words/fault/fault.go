// Package fault defines the service's errors. Each error has a kind, which determines how callers handle it. Clients
// may see the error's code and public text, but never its private cause. The package is independent of any transport:
// HTTP responses, redirects, failed exports and webhooks each have their own renderer.
package fault

import (
	"errors"
	"time"
)

// Kind determines how callers handle an error. A Kind is itself an error, which makes errors.Is(err, fault.NotFound)
// work.
type Kind string //nolint:errname // a kind is compared with, it is no error to construct

// Kinds of errors. An error without a kind is Internal.
//
//nolint:errname // fault.NotFound reads better than fault.ErrNotFound, and the package says what they are
const (
	Invalid          Kind = "invalid"
	Unauthenticated  Kind = "unauthenticated"
	Forbidden        Kind = "forbidden"
	NotFound         Kind = "not_found"
	MethodNotAllowed Kind = "method_not_allowed"
	Conflict         Kind = "conflict"
	Gone             Kind = "gone"
	TooLarge         Kind = "too_large"
	UnsupportedMedia Kind = "unsupported_media"
	Limited          Kind = "limited"
	Upstream         Kind = "upstream" // the health system responded incorrectly
	Unavailable      Kind = "unavailable"
	Internal         Kind = "internal"
)

// Error implements error.
func (k Kind) Error() string { return string(k) }

// Code is the machine-readable error code of a response, a redirect or an event (docs/openapi.yaml, ErrorCode).
type Code string

// The service's own error codes. RFC 6749 codes from health systems are passed through unchanged.
//
//nolint:gosec // error codes of the API that have "token" in their names
const (
	CodeInvalidRequest          Code = "svc_invalid_request"
	CodeUnauthorizedClient      Code = "svc_unauthorized_client"
	CodePlanRequired            Code = "svc_plan_required"
	CodeForbiddenMode           Code = "svc_forbidden_mode"
	CodeLiveAccessRequired      Code = "svc_live_access_required"
	CodeNotFound                Code = "svc_not_found"
	CodeMethodNotAllowed        Code = "svc_method_not_allowed"
	CodeConnectionNotExportable Code = "svc_connection_not_exportable"
	CodeExportExpired           Code = "svc_export_expired"
	CodePayloadTooLarge         Code = "svc_payload_too_large"
	CodeUnsupportedMediaType    Code = "svc_unsupported_media_type"
	CodeRateLimited             Code = "svc_rate_limited"
	CodeTokenExchange           Code = "svc_token_exchange"
	CodeForbidden               Code = "svc_forbidden"
	CodeConflict                Code = "svc_conflict"
	CodeSessionRequired         Code = "svc_session_required"
	CodeProofRequired           Code = "svc_proof_required"
	CodeServerError             Code = "svc_server_error"
	CodeUnavailable             Code = "svc_unavailable"
)

// InBrowser returns the code to use in redirects, widgets and widget events. Only some of the service's codes may
// appear in browsers (docs/reference/deviations.md, "Connecting"). InBrowser replaces all other codes of the service
// with the general failure code. InBrowser returns codes from health systems unchanged.
func (c Code) InBrowser() Code {
	if c == CodeUnavailable || c == CodeRateLimited {
		return CodeServerError
	}
	return c
}

// Error is a failure that can be reported to a client. Clients receive Code and Public; the private cause is only
// logged.
type Error struct {
	Kind       Kind
	Code       Code
	Public     string        // one or two sentences in ASCII
	RetryAfter time.Duration // suggested retry delay; zero if there is none
	Field      string        // name of the invalid input value, so that a form can mark it; may be empty
	Cause      string        // stable identifier for the cause (Causes), if the code has several causes
	because    error
}

// New returns an Error without a cause.
func New(kind Kind, code Code, public string) *Error {
	return &Error{Kind: kind, Code: code, Public: public}
}

// Because returns a copy of e with the given private cause.
func (e *Error) Because(cause error) *Error {
	wrapped := *e
	wrapped.because = cause
	return &wrapped
}

// After returns a copy of e that suggests a retry delay to the client.
func (e *Error) After(wait time.Duration) *Error {
	waiting := *e
	waiting.RetryAfter = wait
	return &waiting
}

// About returns a copy of e that names the invalid input value. The name is logged, so it must be one of the service's
// own field names and never text from a client.
func (e *Error) About(field string) *Error {
	about := *e
	about.Field = field
	return &about
}

// Error implements error. The text includes the private cause and is intended only for the log.
func (e *Error) Error() string {
	text := string(e.Code) + ": "
	if e.Cause != "" {
		text = e.Cause + ": " + text
	}
	if e.because == nil {
		return text + e.Public
	}
	return text + e.because.Error()
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.because }

// Is reports whether target is e's Kind.
func (e *Error) Is(target error) bool {
	kind, ok := target.(Kind)
	return ok && kind == e.Kind
}

// Of returns the outermost Error in err's chain, or wraps any other error in an Internal Error that doesn't reveal any
// details.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return New(Internal, CodeServerError, "Something went wrong on our side. Please try again.").Because(err)
}

// BadRequest returns an Invalid error with the code invalid_request, which most validations use.
func BadRequest(public string) *Error { return New(Invalid, CodeInvalidRequest, public) }

// Missing returns a NotFound error. A request for a resource of another organisation or mode gets the same response
// (docs/openapi.yaml, info).
func Missing(public string) *Error { return New(NotFound, CodeNotFound, public) }

// Stale returns the error for a compare-and-swap that lost to another writer.
func Stale() *Error {
	return New(Conflict, CodeUnavailable, "The record changed at the same time. Please try again.")
}

// IsStale reports whether err is a failed compare-and-swap (Stale), which may succeed if retried with the stored state.
// A conflict with any other code is a refusal, so retrying can't help.
func IsStale(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return errors.Is(err, Conflict) && (!ok || e.Code == CodeUnavailable)
}
