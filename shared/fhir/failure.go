package fhir

import (
	"strconv"
	"time"

	"recordbridge/shared/words/fault"
)

// Class classifies a failed request to a FHIR server in one word, which is safe for logs and outcome records.
type Class string

// Failure classes. Package export decides how to handle each class.
const (
	Unauthorized Class = "unauthorized" // 401: the token has expired or, on some servers, the type is outside the scope
	Forbidden    Class = "forbidden"    // 403
	NotFound     Class = "not_found"    // 404
	Gone         Class = "gone"         // 410: deleted
	Limited      Class = "limited"      // 429
	Rejected     Class = "rejected"     // any other 4xx, a redirect that was not followed, or an invalid type or id
	ServerFault  Class = "server_fault" // 5xx and 408
	Content      Class = "content"      // a success status with HTML or another body that isn't JSON
	TooLarge     Class = "too_large"    // exceeds MaxPage after decompression; 413: too large for the server to send
	ForeignLink  Class = "foreign_link" // a link to a URL outside the base URL; no request was sent
	Network      Class = "network"      // no complete response: DNS, connection, TLS, time-out or blocked address
)

// RequestError is a failed request to a FHIR server. The error's text contains only the class and status, because URLs,
// ids and bodies are health data.
type RequestError struct {
	Class      Class
	Status     int           // HTTP status; 0 if the server didn't respond
	RetryAfter time.Duration // delay that the server requested, or 0
	Refusal    Refusal       // reason stated in the response's OperationOutcome
	Cause      error         // set if Class is Network; must not contain URLs or bodies
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

// Failure returns the class and status for a log line (fault.Spot). If Class is Network, it returns the class of Cause,
// which is more specific.
func (e *RequestError) Failure() (class string, status int) {
	if class = fault.ClassOf(e.Cause); class != "" && e.Class == Network {
		return class, e.Status
	}
	return string(e.Class), e.Status
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Cause }
