package refresh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

const (
	// slotFor is the duration of a slot's lease, which is longer than any call. A refresh ends after 45 seconds
	// (package tokens), and every call must end slotMargin before the lease expires.
	slotFor    = time.Minute
	slotMargin = 15 * time.Second
	// stateWithin limits the duration of a single EndpointState call. releaseWithin limits the total duration of the
	// calls that record an outcome before the slot is released.
	stateWithin   = 2 * time.Second
	releaseWithin = 2 * time.Second
	// busyFor is the minimum retry delay for scheduled work that found no free slot or could not check for one.
	busyFor = time.Minute
	// maxRequestedWait is the maximum delay that an endpoint may request.
	maxRequestedWait = 24 * time.Hour
)

// Limiter is a tokens.Limiter that allows at most 4 concurrent refreshes per token endpoint across all functions.
// Scheduled work may occupy at most 3 of the 4 slots, which reserves a slot for an export whose patient is waiting. A
// breaker blocks scheduled work at a failing endpoint. Limiter also counts responses for the surge guard (revoke.go).
// Errors in the shared state never stop an export.
type Limiter struct {
	state     EndpointState
	now       func() time.Time
	newID     ids.Source
	scheduled bool
	maxWait   time.Duration
}

// NewExportLimiter returns the Limiter for exports. maxWait limits the wait for a slot, which counts towards a
// refresh's 45 seconds. newID generates the IDs of slot owners.
func NewExportLimiter(state EndpointState, maxWait time.Duration, now func() time.Time, newID ids.Source) Limiter {
	return Limiter{state: state, now: now, newID: newID, maxWait: maxWait}
}

// NewScheduledLimiter returns the Limiter for scheduled work, with the same parameters as NewExportLimiter.
func NewScheduledLimiter(state EndpointState, maxWait time.Duration, now func() time.Time, newID ids.Source) Limiter {
	return Limiter{state: state, now: now, newID: newID, maxWait: maxWait, scheduled: true}
}

// BusyError means that no request was sent to the token endpoint, because all slots are taken, the breaker is open, or
// the state of either could not be read. The error is transient and does not contain the endpoint's name.
type BusyError struct {
	RetryAt time.Time // earliest time for a retry
}

// Error implements error.
func (b *BusyError) Error() string { return "the token endpoint is not asked for now" }

// Unspent returns true, because the refresh token was not used.
func (b *BusyError) Unspent() bool { return true }

// EndpointName returns the name that identifies a token endpoint in EndpointState. The name is the hexadecimal SHA-256
// hash of the endpoint's URL.
func EndpointName(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// Acquire implements tokens.Limiter. Every error from Acquire is a *BusyError, possibly with the spot of an outage.
func (l Limiter) Acquire(ctx context.Context, tokenEndpoint string) (tokens.Slot, error) {
	endpoint := EndpointName(tokenEndpoint)
	if l.scheduled {
		if _, err := l.breaker(ctx, endpoint); err != nil {
			return nil, err // waiting for a slot is pointless
		}
	}
	taken, err := l.take(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	taken.isProbe, err = l.admit(ctx, endpoint)
	if err == nil && ctx.Err() != nil {
		err = l.busy(nil) // no time remains for the request
	}
	if err != nil {
		taken.giveBack(ctx)
		return nil, err
	}
	return taken, nil
}

// record stores a call's outcome in the shared state, ignoring storage errors.
func (l Limiter) record(ctx context.Context, endpoint string, isProbe bool, outcome error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	isRefused := errors.Is(outcome, tokens.ErrRefused)
	if outcome == nil || isRefused {
		_ = l.state.Count(ctx, endpoint, l.now(), isRefused)
	}
	if outcome == nil || isRefused || blames(outcome) {
		l.recordBreaker(ctx, endpoint, isProbe, outcome)
	}
}

// busy returns the BusyError for an endpoint at which the time of the next free slot is unknown. If unread is not nil,
// it is the reason that the state could not be read. The error wraps unread only if an AWS service failed, because
// callers could mistake other errors for their own.
func (l Limiter) busy(unread error) error {
	busy := &BusyError{RetryAt: l.now().Add(busyFor)}
	if fault.Outage(unread) {
		return fault.SpotOf(unread).Failed(busy)
	}
	return busy
}
