package safehttp

import (
	"context"
	"errors"
	"net"
	"os"
)

// Class says in one word how a request failed. It is fit for logs, delivery records and support.
type Class string

// The classes.
const (
	BlockedAddress Class = "blocked_address" // the name leads to an address that is not allowed
	DNS            Class = "dns"
	Connect        Class = "connect"
	TLS            Class = "tls"
	Timeout        Class = "timeout"
	BadURL         Class = "bad_url"    // refused before anything was looked up
	BadAnswer      Class = "bad_answer" // the connection broke, or what came was not HTTP
	TooLarge       Class = "too_large"  // more body than the caller allows
	Canceled       Class = "canceled"   // by the caller's context
)

// Error is a request that brought no usable answer. It deliberately drops the error of net/http, whose text names
// the whole URL and the resolved address.
type Error struct {
	Class Class
	cause error
}

// Error implements error.
func (e *Error) Error() string { return "outbound request: " + string(e.Class) }

// Failure tells the class for a log line (fault.Spot).
func (e *Error) Failure() (class string, status int) { return string(e.Class), 0 }

// Unwrap returns context.Canceled, context.DeadlineExceeded or nil.
func (e *Error) Unwrap() error { return e.cause }

// errBlocked is what the guard answers to the dialler.
var errBlocked = errors.New("safehttp: address not allowed")

// failed makes the Error for what net/http returned. handshake tells that a TLS handshake failed, which many errors
// of crypto/tls do not show.
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
