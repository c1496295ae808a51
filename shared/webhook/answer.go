package webhook

import (
	"strconv"
	"strings"
	"time"
)

// Answer is what a receiver did with a POST.
type Answer struct {
	Status     int
	RetryAfter string            // the header of that name (RFC 9110 section 10.2.3)
	Control    string            // the header webhook-delivery (docs/reference/deviations.md, Webhooks)
	Header     map[string]string // as much of the headers as the delivery log shows
	Body       []byte            // as much of the body as the delivery log shows
	Failure    Failure           // set when there is no answer
}

// The HTTP statuses that mean more than a failure (Standard Webhooks 1.0, "Webhook delivery").
const (
	statusGone            = 410
	statusTooManyRequests = 429
	statusBadGateway      = 502
	statusGatewayTimeout  = 504
)

// What a receiver can ask for with the header webhook-delivery.
const (
	controlDisable = "disable"       // send nothing any more, as with 410
	controlAbort   = "abort-message" // this delivery ends now
)

// failure classes the answer; it is empty on success. Only 2xx is a success: a redirect is not followed.
func (a Answer) failure() Failure {
	if a.Failure == "" && (a.Status < 200 || a.Status > 299) {
		return FailedStatus
	}
	return a.Failure
}

func (a Answer) asks(control string) bool {
	return strings.EqualFold(strings.TrimSpace(a.Control), control)
}

// ending is the reason for which the receiver wants no more webhooks at all, empty when it does not say so.
func (a Answer) ending() Reason {
	switch {
	case a.Status == statusGone:
		return ReasonGone
	case a.asks(controlDisable):
		return ReasonAsked
	}
	return ""
}

// needsRest reports a receiver that is overloaded or slow.
func (a Answer) needsRest() bool {
	switch a.Status {
	case statusTooManyRequests, statusBadGateway, statusGatewayTimeout:
		return true
	}
	return a.Failure == FailedTimeout
}

// retryAfter reads Retry-After: seconds, or a date in one of HTTP's three forms. A date that has
// passed asks for no wait.
func (a Answer) retryAfter(now time.Time) (wait time.Duration, ok bool) {
	text := strings.TrimSpace(a.RetryAfter)
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		// A number beyond all steps is cut to two of them anyway, so it only must not overflow.
		if err != nil || seconds > int64(longestAsked/time.Second) {
			return longestAsked, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return max(at.Sub(now), 0), true
		}
	}
	return 0, false
}

// longestAsked is more than two of the longest steps.
const longestAsked = 100 * time.Hour
