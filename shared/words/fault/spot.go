package fault

import (
	"cmp"
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

// Spot locates a failure for its log line: at an external server, in one of the service's rows, or in an AWS service. A
// Spot never holds a path, a query, a patient ID, or content from a response or a row.
type Spot struct {
	Step   Step
	Host   string // includes the port if the URL has one
	Status int    // HTTP status of the response; 0 if there was no response
	Class  string // class of failure, as named by this service, OAuth or AWS

	Operation string // AWS operation, or the operation on the row that failed
	Row       string // kind of row: the first word of its key
	Attribute string // the row's attribute that can't be read

	// Dependency names the AWS service that failed, as the metrics' dimension does (Outage). The fields below name the
	// resource that the AWS call used, if known.
	Dependency string
	Table      string
	Key        KeyName
	Queue      string
	Bucket     string
}

// KeyName is a KMS key's name in template.yaml, such as "TokensKey". It never holds key material, so loggers don't
// redact it.
type KeyName string

// classifiedError is an error that has a class and, if there was a response, a status.
type classifiedError interface {
	error
	Failure() (class string, status int)
}

// Failed returns cause with the spot added. If the spot has no class or status, Failed takes the missing value from
// cause or from cause's stable identifier (Causes). A zero Spot returns cause unchanged. If an AWS service caused the
// failure, neither the external server nor the row is at fault, so Failed adds only the names of resources.
func (s Spot) Failed(cause error) error {
	if s == (Spot{}) || cause == nil {
		return cause
	}
	if of := SpotOf(cause); of.Dependency != "" {
		return of.using(s).added(cause)
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
	return s.added(cause)
}

func (s Spot) added(cause error) error {
	if s == SpotOf(cause) {
		return cause
	}
	return &spotError{spot: s, cause: cause}
}

// using returns a copy of s in which missing names of AWS resources come from other.
func (s Spot) using(other Spot) Spot {
	s.Table, s.Key = cmp.Or(s.Table, other.Table), cmp.Or(s.Key, other.Key)
	s.Queue, s.Bucket = cmp.Or(s.Queue, other.Queue), cmp.Or(s.Bucket, other.Bucket)
	return s
}

// Outage reports whether err was caused by an AWS service that failed, throttled or denied a call, or didn't respond.
// Such a failure says nothing about the patient, the health system or the receiver. Work that meets it must wait and
// must not count it as a failed attempt (docs/adr/0054-failures-of-aws-wait.md).
func Outage(err error) bool {
	return SpotOf(err).Dependency != "" && !errors.Is(err, NotFound) && !errors.Is(err, Conflict)
}

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
