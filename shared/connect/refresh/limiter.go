package refresh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/ids"
)

const (
	// slotFor is the lease of a slot. It outlives the call: a refresh ends after 45 seconds (package tokens), and every
	// call ends slotMargin before the lease does.
	slotFor    = time.Minute
	slotMargin = 15 * time.Second
	// stateWithin is what one call of EndpointState may take, releaseWithin what all of them may that tell of an outcome
	// before the slot is given back.
	stateWithin   = 2 * time.Second
	releaseWithin = 2 * time.Second
	// busyFor is when scheduled work that found no slot, or could not ask, comes again at the earliest.
	busyFor = time.Minute
	// longestAsked bounds what an endpoint may ask us to wait.
	longestAsked = 24 * time.Hour
)

// Limiter is a tokens.Limiter. It lets at most 4 refreshes at a token endpoint happen at once in all functions
// together, of which at most 3 are scheduled work, so that an export of a patient who waits has a place of its own; it
// keeps scheduled work away from an endpoint that fails, by a breaker; and it counts answers for the surge guard
// (revoke.go). What goes wrong with the state never stops an export.
type Limiter struct {
	state     EndpointState
	now       func() time.Time
	newID     ids.Source
	scheduled bool
	maxWait   time.Duration
}

// NewExportLimiter makes the Limiter of exports. maxWait is how long to wait for a slot, a part of the 45 seconds that
// a refresh has; newID names the owners of slots.
func NewExportLimiter(state EndpointState, maxWait time.Duration, now func() time.Time, newID ids.Source) Limiter {
	return Limiter{state: state, now: now, newID: newID, maxWait: maxWait}
}

// NewScheduledLimiter makes the Limiter of scheduled work, as NewExportLimiter.
func NewScheduledLimiter(state EndpointState, maxWait time.Duration, now func() time.Time, newID ids.Source) Limiter {
	return Limiter{state: state, now: now, newID: newID, maxWait: maxWait, scheduled: true}
}

// BusyError says that the token endpoint was not asked: all slots are taken, the breaker is open, or neither could be
// found out. It is transient, and holds no name of the endpoint.
type BusyError struct {
	RetryAt time.Time // when it is worth another try
}

// Error implements error.
func (b *BusyError) Error() string { return "the token endpoint is not asked for now" }

// Unspent tells package tokens that the refresh token was not used.
func (b *BusyError) Unspent() bool { return true }

// EndpointName is how EndpointState knows a token endpoint: the SHA-256 of its URL, in hex.
func EndpointName(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// Acquire implements tokens.Limiter. The error is *BusyError.
func (l Limiter) Acquire(ctx context.Context, tokenEndpoint string) (tokens.Slot, error) {
	endpoint := EndpointName(tokenEndpoint)
	if l.scheduled {
		if _, err := l.breaker(ctx, endpoint); err != nil {
			return nil, err // before it waits for a slot in vain
		}
	}
	taken, err := l.take(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	taken.isProbe, err = l.admit(ctx, endpoint)
	if err == nil && ctx.Err() != nil {
		err = l.busy() // no time is left to ask
	}
	if err != nil {
		taken.giveBack(ctx)
		return nil, err
	}
	return taken, nil
}

// record tells the others how the endpoint has answered. A failure to do so is left at that.
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

// busy is the answer where it is not known when the endpoint can be asked.
func (l Limiter) busy() error { return &BusyError{RetryAt: l.now().Add(busyFor)} }
