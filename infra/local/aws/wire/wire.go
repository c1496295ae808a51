// Package wire owns the parts that the embedded AWS services share: the identity of a call, the middleware interface
// for faults, IAM and counting, AWS's error format, the JSON protocol and the journal for persistence. It knows no
// service; the services are its sibling packages, and package aws joins them on one handler.
package wire

import (
	"encoding/json"
	"net/http"
)

// Call identifies one AWS API call while it is served.
type Call struct {
	Service   string // "dynamodb", "sqs", "s3", "kms", "ses", "secretsmanager", "ssm"
	Operation string // as AWS names it: "PutItem", "SendMessage", "GetObject"
	Caller    string // access key id of the signer; a function's logical id if the runner started it
}

// Handler serves one identified call.
type Handler func(w http.ResponseWriter, r *http.Request, c Call)

// Middleware wraps every call of every service. It is the hook for fault injection, IAM and call counting.
type Middleware func(Handler) Handler

// Service is one emulated AWS service.
type Service interface {
	// Name returns the service's name in Call.Service and in the journal.
	Name() string
	// Operation returns the AWS operation that r requests, or "" if the service can't determine it.
	Operation(r *http.Request) string
	// Serve serves the call. It never panics on invalid input.
	Serve(w http.ResponseWriter, r *http.Request, c Call)
	// Replay applies one record that the service appended to its Journal in an earlier run.
	Replay(record json.RawMessage) error
	// Dump emits the complete state as records from which Replay can rebuild it, and returns emit's first error. It is
	// called at a start, before the first call is served.
	Dump(emit func(record any) error) error
}

// Journal stores one record per committed change. Append returns only once the record would survive kill -9.
type Journal interface {
	Append(service string, record any) error
}

// Discard is the journal of a memory-only run.
type Discard struct{}

// Append implements Journal and stores nothing.
func (Discard) Append(string, any) error { return nil }
