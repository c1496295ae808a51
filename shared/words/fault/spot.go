package fault

import (
	"context"
	"errors"
	"strings"
)

// Step names the request to an external server that failed, as in log lines (docs/operate/monitoring.md, "Log fields").
type Step string

// The steps.
const (
	StepDiscovery  Step = "discovery"  // its SMART configuration or equivalent metadata
	StepAuthorize  Step = "authorize"  // the sign-in at the portal
	StepCallback   Step = "callback"   // the browser's return to the service
	StepToken      Step = "token"      // a code exchange or a refresh
	StepIdentity   Step = "identity"   // the identity of the signed-in person
	StepRevocation Step = "revocation" // token revocation
	StepPatient    Step = "patient"    // reading the Patient, the first step of an export
	StepMetadata   Step = "metadata"   // the server's CapabilityStatement
	StepSearch     Step = "search"     // an export's searches and the requests that follow from them
	StepNotify     Step = "notify"     // a webhook
)

// Spot locates a failure for its log line: at an external server, or in one of the service's tables. It never holds a
// path, a query, a patient id, or any content of a response or a row.
type Spot struct {
	Step   Step
	Host   string // including the port, if the URL has one
	Status int    // HTTP status of the response; 0 if there was none
	Class  string // class of failure: a word of this service, of OAuth or of AWS

	Table     string
	Operation string // the DynamoDB operation, or the failed operation on the row
	Row       string // kind of the row: the first word of its key
	Attribute string // the attribute that cannot be read
}

// classifiedError is an error that has a class and, if there was a response, a status.
type classifiedError interface {
	error
	Failure() (class string, status int)
}

// Failed returns cause as a failure at this spot. An unset class or status is taken from the cause, or from its word
// (Causes). A zero Spot changes nothing.
func (s Spot) Failed(cause error) error {
	if s == (Spot{}) || cause == nil {
		return cause
	}
	told, tells := errors.AsType[classifiedError](cause)
	switch {
	case s.Class != "":
	case tells:
		s.Class, s.Status = told.Failure()
	case Of(cause).Cause != "":
		s.Class = Of(cause).Cause
	case errors.Is(cause, context.DeadlineExceeded):
		s.Class = "timeout"
	}
	return &spotError{spot: s, cause: cause}
}

// SpotOf returns the spot of err, or a zero Spot if it has none.
func SpotOf(err error) Spot {
	if e, ok := errors.AsType[*spotError](err); ok {
		return e.spot
	}
	return Spot{}
}

// ClassOf returns the class of err, or "".
func ClassOf(err error) string {
	told, ok := errors.AsType[classifiedError](err)
	if !ok {
		return ""
	}
	class, _ := told.Failure()
	return class
}

// spotError adds a Spot to its cause.
type spotError struct {
	spot  Spot
	cause error
}

// Error implements error.
func (e *spotError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *spotError) Unwrap() error { return e.cause }

// HostOf returns the host of an absolute URL, including its port. No other part of a URL may be in a Spot.
func HostOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}
