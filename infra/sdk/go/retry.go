package recordbridge

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Limits of the pauses between attempts.
const (
	firstPause    = 500 * time.Millisecond
	maxPause      = 16 * time.Second
	maxRetryAfter = 2 * time.Minute // above it, the caller decides whether to wait
)

// retrying repeats requests after network failures and transient statuses. It suits every operation of the API, because
// all of them are idempotent.
type retrying struct {
	client   *http.Client
	attempts int
	pause    func(context.Context, time.Duration) error
}

// Do sends a request, and repeats it if needed. It returns the response at once if the server requests a pause above
// maxRetryAfter.
func (r *retrying) Do(request *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		again := request.Clone(request.Context())
		if request.GetBody != nil {
			body, err := request.GetBody()
			if err != nil {
				return nil, err
			}
			again.Body = body
		}
		response, err := r.client.Do(again)
		if err == nil && !transient(response.StatusCode) {
			return response, nil
		}
		retryAfter := ""
		if err == nil {
			retryAfter = response.Header.Get("Retry-After")
		}
		pause := delay(attempt, retryAfter)
		if attempt >= r.attempts || pause > maxRetryAfter || request.Context().Err() != nil {
			return response, err
		}
		if err == nil {
			_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
			_ = response.Body.Close()
		}
		if err := r.pause(request.Context(), pause); err != nil {
			return nil, err
		}
	}
}

// transient reports whether the same request can succeed after a status.
func transient(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// delay returns the pause before the next attempt: the time that the server requests, or else 0.5 to 1 s, doubled per
// attempt.
func delay(attempt int, retryAfter string) time.Duration {
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	pause := min(firstPause<<min(attempt-1, 10), maxPause)
	return pause + rand.N(pause) //nolint:gosec // jitter needs no secrecy
}

// wait pauses until the time is over or the context ends.
func wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
