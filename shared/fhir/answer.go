package fhir

import (
	"io"
	"time"
)

// Answer is a good answer of a FHIR server: one JSON document, and what the server said about its limits.
type Answer struct {
	Body []byte
	Rate Rate
}

// Rate is what the headers of an answer tell of the server's limits (RateLimit and X-RateLimit, in requests).
type Rate struct {
	Limit     int
	Remaining int
	Reset     time.Duration // until Remaining is Limit again
	Known     bool          // the headers were there and could be read
}

// File is the content of an attachment while it is read. Who gets it closes Body.
type File struct {
	// ends with a *RequestError when it cannot be read to its end, TooLarge beyond the limit asked for
	Body        io.ReadCloser
	ContentType string // media type as the server states it; empty when it does not
	Rate        Rate
}
