package fhir

import (
	"io"
	"time"
)

// Response is a successful response of a FHIR server: one JSON document, and the server's stated rate limits.
type Response struct {
	Body []byte
	Rate Rate
}

// Rate holds the server's rate limits from the response headers (RateLimit and X-RateLimit, in requests).
type Rate struct {
	Limit     int
	Remaining int
	Reset     time.Duration // time until Remaining equals Limit again
	Known     bool          // the headers were present and valid
}

// File is the content of an attachment while it is read. The receiver must close Body.
type File struct {
	// ends with a *RequestError if it cannot be read completely, TooLarge beyond the requested limit
	Body        io.ReadCloser
	ContentType string // media type as stated by the server; empty if missing
	Rate        Rate
}
