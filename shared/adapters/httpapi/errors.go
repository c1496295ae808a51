package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// failure holds the parts of an error that clients see in a response body, page or redirect.
type failure struct {
	status      int
	code        string
	description string
	cause       string
	retryAfter  time.Duration
}

type errorEnvelope struct {
	Success          bool   `json:"success"`
	Error            string `json:"error"`
	ErrorDescription string `json:"error_description"`
	RequestID        string `json:"request_id"`
	Cause            string `json:"cause,omitempty"`
}

// shown records an error in the request's log line and returns the parts that clients may see.
func shown(ctx context.Context, err error) failure {
	logx.Fail(ctx, err)
	e := fault.Of(err)
	if e.Kind == fault.Internal {
		e = fault.Of(nil) // hides an internal error's text from clients
	}
	return failure{
		status: status(e), code: string(e.Code), description: sentence(e.Public), cause: e.Cause, retryAfter: e.RetryAfter,
	}
}

// status is the only mapping from errors to HTTP statuses.
func status(e *fault.Error) int {
	if e.Code == fault.CodeUnavailable {
		return http.StatusServiceUnavailable // a repeatedly failing compare-and-swap results in a 503
	}
	switch e.Kind {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case fault.Limited:
		return http.StatusTooManyRequests
	case fault.Upstream, fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

func failKeyed(ctx context.Context, c *call, err error) reply {
	answer := failJSON(ctx, c, err)
	if answer.status == http.StatusUnauthorized {
		c.header.Set("WWW-Authenticate", `Basic realm="recordbridge", charset="UTF-8"`) // RFC 7617 section 2.1
	}
	return answer
}

func failJSON(ctx context.Context, c *call, err error) reply {
	f := shown(ctx, err)
	body, encodeErr := encode(errorEnvelope{
		Error:            f.code,
		ErrorDescription: f.description,
		RequestID:        logx.RequestID(ctx),
		Cause:            f.cause,
	})
	if encodeErr != nil { // can't happen, because a struct of strings can always be encoded
		return reply{status: http.StatusInternalServerError}
	}
	c.header.Set("Content-Type", "application/json")
	f.retry(c.header)
	return reply{status: f.status, body: body}
}

func (f failure) retry(header http.Header) {
	if f.retryAfter > 0 {
		header.Set("Retry-After", strconv.FormatInt(seconds(f.retryAfter), 10))
	}
}

// maxSentence is the maximum length of error_description in characters (docs/openapi.yaml).
const maxSentence = 200

// sentence converts text to a valid error_description: a single line of at most 200 printable ASCII characters.
func sentence(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), maxSentence)]
}
