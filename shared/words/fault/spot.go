package fault

import (
	"context"
	"errors"
	"strings"
)

// Step is what was asked of a server of others when it failed, as log lines name it
// (docs/operate/monitoring.md, "Log fields").
type Step string

// The steps.
const (
	StepDiscovery  Step = "discovery"  // its SMART configuration, or the statement in its place
	StepAuthorize  Step = "authorize"  // the sign-in at the portal
	StepCallback   Step = "callback"   // the browser's return to us
	StepToken      Step = "token"      // a code exchange or a refresh
	StepIdentity   Step = "identity"   // who has signed in
	StepRevocation Step = "revocation" // taking tokens back
	StepPatient    Step = "patient"    // reading the Patient, which an export begins with
	StepMetadata   Step = "metadata"   // its CapabilityStatement
	StepSearch     Step = "search"     // the searches of an export, and whatever they lead to
	StepNotify     Step = "notify"     // a webhook
)

// Spot is where a failure happened, as its log line tells it: at a server of others, or in a table of ours. It never
// holds a path, a query, an id of a patient, or anything of an answer or a row.
type Spot struct {
	Step   Step
	Host   string // with its port, if it names one
	Status int    // HTTP status of its answer; 0 without one
	Class  string // what kind of failure: a word of ours, of OAuth or of AWS

	Table     string
	Operation string // what DynamoDB was asked for, or what could not be done with the row
	Row       string // kind of the row, as the first word of its key names it
	Attribute string // that cannot be read
}

// telling is an error that knows its class and, where there was an answer, its status.
type telling interface {
	error
	Failure() (class string, status int)
}

// Failed returns cause as a failure at this spot. A class and status that the spot leaves out are the cause's, if it
// tells, or its word (Causes). A zero Spot changes nothing.
func (s Spot) Failed(cause error) error {
	if s == (Spot{}) || cause == nil {
		return cause
	}
	told, tells := errors.AsType[telling](cause)
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

// SpotOf is where err happened; a zero Spot when it does not tell.
func SpotOf(err error) Spot {
	if e, ok := errors.AsType[*spotError](err); ok {
		return e.spot
	}
	return Spot{}
}

// ClassOf is the class that err tells, or "".
func ClassOf(err error) string {
	told, ok := errors.AsType[telling](err)
	if !ok {
		return ""
	}
	class, _ := told.Failure()
	return class
}

// spotError is its cause, with where it happened.
type spotError struct {
	spot  Spot
	cause error
}

// Error implements error.
func (e *spotError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *spotError) Unwrap() error { return e.cause }

// HostOf is the host of an absolute address, with its port; nothing else of an address is fit for a Spot.
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
