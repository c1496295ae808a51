// Package wire owns what the embedded AWS services share: the identity of a call, the seam through which faults,
// IAM and counting are put around it, AWS's error shape, the JSON protocol and the journal that persistence uses.
// It knows no service; the services are its sibling packages, and package aws joins them on one handler.
package wire

import (
	"encoding/json"
	"net/http"
)

// Call identifies one AWS API call while it is being served.
type Call struct {
	Service   string // "dynamodb", "sqs", "s3", "kms", "ses", "secretsmanager", "ssm"
	Operation string // as AWS names it: "PutItem", "SendMessage", "GetObject"
	Caller    string // access key id of the signer; a function's logical id when the runner started it
}

// Handler serves one identified call.
type Handler func(w http.ResponseWriter, r *http.Request, c Call)

// Middleware surrounds every call of every service. It is the seam for fault injection, IAM and call counting.
type Middleware func(Handler) Handler

// Service is one emulated AWS service.
type Service interface {
	// Name is the service as it stands in Call.Service and in the journal.
	Name() string
	// Operation names the AWS operation that r asks for, "" when the service cannot tell.
	Operation(r *http.Request) string
	// Serve answers the call; it never panics on bad input.
	Serve(w http.ResponseWriter, r *http.Request, c Call)
	// Replay applies one record that the service appended to its Journal in an earlier life.
	Replay(record json.RawMessage) error
	// Dump gives emit the whole state as records that lead Replay from nothing to it, and returns emit's first error. It
	// is called at a start, before the first call is served.
	Dump(emit func(record any) error) error
}

// Journal stores one record per committed change. Append returns only when the record would survive kill -9.
type Journal interface {
	Append(service string, record any) error
}

// Discard is the journal of a memory-only run.
type Discard struct{}

// Append implements Journal and keeps nothing.
func (Discard) Append(string, any) error { return nil }
