package safehttp

import (
	"context"
	"errors"
	"net"
	"os"
)

// Class classifies a request's failure in a single word that is safe in logs, in delivery records and for support.
type Class string

// Classes of failure.
const (
	BlockedAddress Class = "blocked_address" // the host resolves to a forbidden address
	DNS            Class = "dns"
	Connect        Class = "connect"
	TLS            Class = "tls"
	Timeout        Class = "timeout"
	BadURL         Class = "bad_url"    // URL rejected before the DNS lookup
	BadAnswer      Class = "bad_answer" // the connection failed, or the response was not valid HTTP
	TooLarge       Class = "too_large"  // the body exceeds the caller's limit
	Canceled       Class = "canceled"   // the caller's context was cancelled
)

// Error is the error for a request that got no usable response. An Error omits net/http's error, whose text contains
// the full URL and the resolved address.
type Error struct {
	Class Class
	cause error
}

// Error implements error.
func (e *Error) Error() string { return "outbound request: " + string(e.Class) }

// Failure returns the class that fault.Spot logs.
func (e *Error) Failure() (class string, status int) { return string(e.Class), 0 }

// Unwrap returns context.Canceled, context.DeadlineExceeded or nil.
func (e *Error) Unwrap() error { return e.cause }

// errBlocked is the error that the guard returns to the dialler.
var errBlocked = errors.New("safehttp: address not allowed")

// failed converts a net/http error to an Error. handshake states whether the TLS handshake failed, which many
// crypto/tls errors don't reveal.
func failed(err error, handshake bool) *Error {
	var network net.Error
	switch {
	case errors.Is(err, errBlocked):
		return &Error{Class: BlockedAddress}
	case errors.Is(err, context.Canceled):
		return &Error{Class: Canceled, cause: context.Canceled}
	case isType[*net.DNSError](err):
		return &Error{Class: DNS}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &network) && network.Timeout():
		return &Error{Class: Timeout, cause: context.DeadlineExceeded}
	case handshake:
		return &Error{Class: TLS}
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "dial" {
		return &Error{Class: Connect}
	}
	return &Error{Class: BadAnswer}
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
