package fault

import (
	"context"
	"errors"
	"strings"
)

// Step names the failed request to an external server. Log lines use the same names (docs/operate/monitoring.md, "Log
// fields").
type Step string

// Steps of a connection or an export.
const (
	StepDiscovery  Step = "discovery"  // SMART configuration or equivalent metadata
	StepAuthorize  Step = "authorize"  // sign-in at the health system's portal
	StepCallback   Step = "callback"   // the browser's redirect back to the service
	StepToken      Step = "token"      // code exchange or token refresh
	StepIdentity   Step = "identity"   // verifying the identity of the signed-in person
	StepRevocation Step = "revocation" // token revocation
	StepPatient    Step = "patient"    // reading the Patient resource, the first step of an export
	StepMetadata   Step = "metadata"   // reading the server's CapabilityStatement
	StepSearch     Step = "search"     // an export's searches and their follow-up requests
	StepNotify     Step = "notify"     // webhook delivery
)

// Spot locates a failure for its log line, either at an external server or in one of the service's tables or keys. A
// Spot never holds a path, a query, a patient ID, or content from a response or a row.
type Spot struct {
	Step   Step
	Host   string // includes the port if the URL has one
	Status int    // HTTP status of the response; 0 if there was no response
	Class  string // class of failure, as named by this service, OAuth or AWS

	Table     string
	Key       string // KMS key's name in the template, such as TokensKey
	Operation string // DynamoDB or KMS operation, or the operation on the row that failed
	Row       string // kind of row: the first word of its key
	Attribute string // the row's attribute that can't be read
}

// classifiedError is an error that has a class and, if there was a response, a status.
type classifiedError interface {
	error
	Failure() (class string, status int)
}

// awsError is an error with which an AWS service responded.
type awsError interface {
	error
	ErrorCode() string
}

// Failed returns cause with the spot added. If the spot has no class or status, Failed takes the missing value from
// cause or from cause's stable identifier (Causes). A zero Spot returns cause unchanged. A spot without a class also
// returns cause unchanged if cause is located at a table or a key, so that an AWS failure isn't attributed to a health
// system or a damaged row.
func (s Spot) Failed(cause error) error {
	if s == (Spot{}) || cause == nil || s.Class == "" && SpotOf(cause).isAtAWS() {
		return cause
	}
	told, tells := errors.AsType[classifiedError](cause)
	answered, isAnswered := errors.AsType[awsError](cause)
	switch {
	case s.Class != "":
	case tells:
		s.Class, s.Status = told.Failure()
	case Of(cause).Cause != "":
		s.Class = Of(cause).Cause
	case s.isAtAWS() && isAnswered:
		s.Class = answered.ErrorCode()
	case errors.Is(cause, context.DeadlineExceeded):
		s.Class = "timeout"
	case errors.Is(cause, context.Canceled):
		s.Class = "canceled"
	case s.isAtAWS():
		s.Class = "network"
	}
	return &spotError{spot: s, cause: cause}
}

func (s Spot) isAtAWS() bool { return s.Table != "" || s.Key != "" }

// SpotOf returns the Spot recorded in err. It returns a zero Spot if err doesn't contain a Spot.
func SpotOf(err error) Spot {
	if e, ok := errors.AsType[*spotError](err); ok {
		return e.spot
	}
	return Spot{}
}

// ClassOf returns err's class, or "" if err has no class.
func ClassOf(err error) string {
	told, ok := errors.AsType[classifiedError](err)
	if !ok {
		return ""
	}
	class, _ := told.Failure()
	return class
}

// spotError adds a Spot to the underlying error.
type spotError struct {
	spot  Spot
	cause error
}

// Error implements error.
func (e *spotError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *spotError) Unwrap() error { return e.cause }

// HostOf returns the host of an absolute URL, including its port. A Spot must not contain any other part of the URL.
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
