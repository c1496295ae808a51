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

// failure holds the client-visible parts of an error, as they appear in a body, on a page or in a redirect.
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

// shown converts an error to the form that clients see, and records the error in the log line of the unit of work.
func shown(ctx context.Context, err error) failure {
	logx.Fail(ctx, err)
	e := fault.Of(err)
	if e.Kind == fault.Internal {
		e = fault.Of(nil) // discards the error's text
	}
	return failure{
		status: status(e), code: string(e.Code), description: sentence(e.Public), cause: e.Cause, retryAfter: e.RetryAfter,
	}
}

// status maps an error to an HTTP status. No other function maps errors to statuses.
func status(e *fault.Error) int {
	if e.Code == fault.CodeUnavailable {
		return http.StatusServiceUnavailable // clients receive 503 if a compare-and-swap keeps failing
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

// failKeyed renders a keyed endpoint's error.
func failKeyed(ctx context.Context, c *call, err error) reply {
	answer := failJSON(ctx, c, err)
	if answer.status == http.StatusUnauthorized {
		c.header.Set("WWW-Authenticate", `Basic realm="recordbridge", charset="UTF-8"`) // RFC 7617 section 2.1
	}
	return answer
}

// failJSON renders the error envelope.
func failJSON(ctx context.Context, c *call, err error) reply {
	f := shown(ctx, err)
	body, encodeErr := encode(errorEnvelope{
		Error:            f.code,
		ErrorDescription: f.description,
		RequestID:        logx.RequestID(ctx),
		Cause:            f.cause,
	})
	if encodeErr != nil { // can't happen, because a struct of strings always encodes
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

// maxSentence is the maximum length of error_description, which consists of one or two sentences (docs/openapi.yaml).
const maxSentence = 200

// sentence converts a text to a valid error_description. The result is printable ASCII on one line and has at most 200
// characters.
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
