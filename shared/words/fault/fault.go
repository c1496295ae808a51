// Package fault is the one vocabulary of errors: a kind that decides behaviour, a code and a public text that a
// client may see, and a private cause that it never sees. It knows no transport; each audience (HTTP, redirect,
// failed export, webhook) has its own renderer elsewhere.
package fault

import (
	"errors"
	"time"
)

// Kind says what an error means for behaviour. A Kind is itself an error, so errors.Is(err, fault.NotFound) works.
type Kind string //nolint:errname // a kind is compared with, it is no error to construct

// The kinds. An error that carries none of them is Internal.
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
	Upstream         Kind = "upstream" // the health system answered, but not as it should
	Unavailable      Kind = "unavailable"
	Internal         Kind = "internal"
)

// Error implements error.
func (k Kind) Error() string { return string(k) }

// Code is the machine-readable error of an answer, a redirect or an event (docs/openapi.yaml, ErrorCode).
type Code string

// The service's own codes. Codes of RFC 6749 pass through from health systems beside them.
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

// InBrowser is the code as redirects, widgets and their events carry it: what is not ours to say there
// (docs/reference/deviations.md, "Connecting", lists what is) becomes the general failure. Codes of health systems pass.
func (c Code) InBrowser() Code {
	if c == CodeUnavailable || c == CodeRateLimited {
		return CodeServerError
	}
	return c
}

// Error is a failure that may be shown: Code and Public go to the client, the private cause only to the log.
type Error struct {
	Kind       Kind
	Code       Code
	Public     string        // one or two ASCII sentences
	RetryAfter time.Duration // zero when the client is told nothing about time
	Field      string        // which of the values that were given is wrong, for who can point at it; empty when none is
	Cause      string        // why, as a stable word, where one code has several causes (Causes)
	because    error
}

// New makes an Error without a cause.
func New(kind Kind, code Code, public string) *Error {
	return &Error{Kind: kind, Code: code, Public: public}
}

// Because returns a copy of e with the given private cause.
func (e *Error) Because(cause error) *Error {
	wrapped := *e
	wrapped.because = cause
	return &wrapped
}

// After returns a copy of e that asks the client to wait.
func (e *Error) After(wait time.Duration) *Error {
	waiting := *e
	waiting.RetryAfter = wait
	return &waiting
}

// About returns a copy of e that is about one of the values that were given. Its name is ours, never
// the client's: it is logged.
func (e *Error) About(field string) *Error {
	about := *e
	about.Field = field
	return &about
}

// Error implements error. The text is for the log: it holds the private cause.
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

// Of returns the outermost Error in err. Anything else becomes an Internal one that shows nothing but that it failed.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return New(Internal, CodeServerError, "Something went wrong on our side. Please try again.").Because(err)
}

// BadRequest makes the Invalid error that most validations need.
func BadRequest(public string) *Error { return New(Invalid, CodeInvalidRequest, public) }

// Missing makes the NotFound error. Things of another organisation or mode answer exactly so, too
// (docs/openapi.yaml, info).
func Missing(public string) *Error { return New(NotFound, CodeNotFound, public) }

// Stale is returned by a store whose compare-and-swap lost against another writer.
func Stale() *Error {
	return New(Conflict, CodeUnavailable, "The record changed at the same time. Please try again.")
}

// IsStale reports whether err is a compare-and-swap that lost (Stale), so that the same operation can succeed on what
// is stored by now. A conflict with another code is a refusal, which a repetition does not change.
func IsStale(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return errors.Is(err, Conflict) && (!ok || e.Code == CodeUnavailable)
}
