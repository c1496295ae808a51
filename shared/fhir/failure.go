package fhir

import (
	"strconv"
	"time"

	"recordbridge/shared/words/fault"
)

// Class classifies a failed request to a FHIR server in one word. It is safe for logs and outcome records.
type Class string

// The classes. Package shared/export decides how an export reacts to each.
const (
	Unauthorized Class = "unauthorized" // 401: token expired, or on some servers a type outside the scope
	Forbidden    Class = "forbidden"    // 403
	NotFound     Class = "not_found"    // 404
	Gone         Class = "gone"         // 410: deleted
	Limited      Class = "limited"      // 429
	Rejected     Class = "rejected"     // any other 4xx, a redirect that is not followed, an invalid type or id
	ServerFault  Class = "server_fault" // 5xx and 408
	Content      Class = "content"      // a successful status, but HTML or another body that is not JSON
	TooLarge     Class = "too_large"    // more than MaxPage after decompression; 413: more than the server sends at once
	ForeignLink  Class = "foreign_link" // the link leads to a URL outside the base; nothing was sent
	Network      Class = "network"      // no complete response: name, connection, TLS, time limit, blocked address
)

// RequestError is a failed request to a FHIR server. Its text contains only class and status: URLs, ids and bodies are
// health data.
type RequestError struct {
	Class      Class
	Status     int           // 0 without a response
	RetryAfter time.Duration // wait that the server requested; 0 if none
	Refusal    Refusal       // reason, if the response's OperationOutcome states it
	Cause      error         // for Network; must not contain URLs or bodies either
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

// Failure returns the class for a log line (fault.Spot): for Network, that of the cause, which is more specific.
func (e *RequestError) Failure() (class string, status int) {
	if class = fault.ClassOf(e.Cause); class != "" && e.Class == Network {
		return class, e.Status
	}
	return string(e.Class), e.Status
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Cause }
