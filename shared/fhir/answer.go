package fhir

import (
	"io"
	"time"
)

// Response is a successful response from a FHIR server. A Response holds one JSON document and the rate limits from the
// response headers.
type Response struct {
	Body []byte
	Rate Rate
}

// Rate holds the rate limits from the RateLimit and X-RateLimit response headers. Limit and Remaining are numbers of
// requests.
type Rate struct {
	Limit     int
	Remaining int
	Reset     time.Duration // time until Remaining equals Limit again
	Known     bool          // whether the headers were present and valid
}

// File is an attachment's content, read as a stream. The caller must close Body.
type File struct {
	// reading fails with a *RequestError if the content is incomplete or, with class TooLarge, if it exceeds the
	// requested limit
	Body        io.ReadCloser
	ContentType string // media type stated by the server, if any
	Rate        Rate
}
