// Package wire contains the code that the embedded AWS services share: a call's identity, the middleware interface for
// faults, IAM and counting, AWS's error format, the JSON protocol, and the journal for persistence. It does not depend
// on the services, which are its sibling packages. Package aws combines the services in a single handler.
package wire

import (
	"encoding/json"
	"net/http"
)

// Call identifies an AWS API call.
type Call struct {
	Service   string // service name: "dynamodb", "sqs", "s3", "kms", "ses", "secretsmanager" or "ssm"
	Operation string // AWS's name for the operation, such as "PutItem" or "GetObject"
	Caller    string // access key ID of the signer; a function's logical ID if the runner started it
}

// Handler serves a single identified call.
type Handler func(w http.ResponseWriter, r *http.Request, c Call)

// Middleware wraps every call of every service. Middleware is used for fault injection, IAM and call counting.
type Middleware func(Handler) Handler

// Service is an emulated AWS service.
type Service interface {
	// Name returns the service's name, as used in Call.Service and in the journal.
	Name() string
	// Operation returns the AWS operation that r requests, or "" if the service can't determine it.
	Operation(r *http.Request) string
	// Serve serves the call. It must not panic on invalid input.
	Serve(w http.ResponseWriter, r *http.Request, c Call)
	// Replay applies a record that the service appended to its Journal in an earlier run.
	Replay(record json.RawMessage) error
	// Dump emits records from which Replay can rebuild the complete state, and returns the first error from emit. Dump
	// is called at startup, before the first call is served.
	Dump(emit func(record any) error) error
}

// Journal stores one record for each committed change. Append returns only once the record is certain to survive kill
// -9.
type Journal interface {
	Append(service string, record any) error
}

// Discard is a Journal that stores nothing, for services that keep their state only in memory.
type Discard struct{}

// Append implements Journal by discarding the record.
func (Discard) Append(string, any) error { return nil }
