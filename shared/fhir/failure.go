package fhir

import (
	"strconv"
	"time"

	"recordbridge/shared/words/fault"
)

// Class says in one word how a request to a FHIR server failed. It is fit for logs and outcome records.
type Class string

// The classes. What an export does about each is shared/export's business.
const (
	Unauthorized Class = "unauthorized" // 401: token expired, or on some servers a type outside the scope
	Forbidden    Class = "forbidden"    // 403
	NotFound     Class = "not_found"    // 404
	Gone         Class = "gone"         // 410: deleted
	Limited      Class = "limited"      // 429
	Rejected     Class = "rejected"     // any other 4xx, a redirect that is not followed, a malformed type or id
	ServerFault  Class = "server_fault" // 5xx and 408
	Content      Class = "content"      // a good status, but HTML or something else that is no JSON
	TooLarge     Class = "too_large"    // more than MaxPage after decompression; 413: more than the server gives at once
	ForeignLink  Class = "foreign_link" // the link leads away from the base; nothing was sent
	Network      Class = "network"      // no whole answer: name, connection, TLS, time limit, blocked address
)

// RequestError is a failed request to a FHIR server. Its text holds class and status only: addresses, ids and
// bodies are health data.
type RequestError struct {
	Class      Class
	Status     int           // 0 without an answer
	RetryAfter time.Duration // how long the server asked to wait; 0 when it did not
	Refusal    Refusal       // why, when the answer's OperationOutcome says so
	Cause      error         // of Network: must be free of addresses and bodies, too
}

// Error implements error.
func (e *RequestError) Error() string {
	text := "fhir request: " + string(e.Class)
	if e.Status != 0 {
		text += " (status " + strconv.Itoa(e.Status) + ")"
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Failure tells the class for a log line (fault.Spot): of Network, that of the cause, which says more.
func (e *RequestError) Failure() (class string, status int) {
	if class = fault.ClassOf(e.Cause); class != "" && e.Class == Network {
		return class, e.Status
	}
	return string(e.Class), e.Status
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Cause }
