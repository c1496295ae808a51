package webhook

import (
	"strconv"
	"strings"
	"time"
)

// Answer is a receiver's response to a webhook.
type Answer struct {
	Status     int
	RetryAfter string            // Retry-After header (RFC 9110 section 10.2.3)
	Control    string            // webhook-delivery header (docs/reference/deviations.md, Webhooks)
	Header     map[string]string // response headers for the delivery log
	Body       []byte            // start of the response body for the delivery log
	Failure    Failure           // set if no response was received
}

// HTTP statuses with a special meaning for webhooks (Standard Webhooks 1.0, "Webhook delivery").
const (
	statusGone            = 410
	statusTooManyRequests = 429
	statusBadGateway      = 502
	statusGatewayTimeout  = 504
)

// Values of the webhook-delivery header.
const (
	controlDisable = "disable"       // disable the subscription, as status 410 does
	controlAbort   = "abort-message" // end this delivery without further attempts
)

// failure returns the class of the response's failure. It returns "" on success, which requires a 2xx status. Redirects
// are not followed.
func (a Answer) failure() Failure {
	if a.Failure == "" && (a.Status < 200 || a.Status > 299) {
		return FailedStatus
	}
	return a.Failure
}

func (a Answer) asks(control string) bool {
	return strings.EqualFold(strings.TrimSpace(a.Control), control)
}

// ending returns the reason that the response gives for disabling the subscription, or "" if it gives none.
func (a Answer) ending() Reason {
	switch {
	case a.Status == statusGone:
		return ReasonGone
	case a.asks(controlDisable):
		return ReasonAsked
	}
	return ""
}

// isOverloaded reports whether the receiver is overloaded or slow.
func (a Answer) isOverloaded() bool {
	switch a.Status {
	case statusTooManyRequests, statusBadGateway, statusGatewayTimeout:
		return true
	}
	return a.Failure == FailedTimeout
}

// retryAfter parses the Retry-After header, which contains seconds or a date in one of HTTP's three formats. A date in
// the past results in no delay.
func (a Answer) retryAfter(now time.Time) (wait time.Duration, ok bool) {
	text := strings.TrimSpace(a.RetryAfter)
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		// Larger numbers are capped at longestAsked, so it suffices to detect an overflow.
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

// longestAsked is the cap on a parsed Retry-After delay. The value is more than twice the schedule's longest delay.
const longestAsked = 100 * time.Hour
