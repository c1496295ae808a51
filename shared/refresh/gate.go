package refresh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/tokens"
)

const (
	// slotFor is the lease of a slot. It outlives the call: a Keeper's refresh ends after 45 seconds, and every call
	// ends slotMargin before the lease does.
	slotFor    = time.Minute
	slotMargin = 15 * time.Second
	// trafficWithin is what one call of Traffic may take, notesWithin what all of them may between the EHR's answer and
	// the slot's release.
	trafficWithin = 2 * time.Second
	notesWithin   = 2 * time.Second
	// busyFor is when scheduled work that found no slot, or could not ask, comes again at the earliest.
	busyFor = time.Minute
	// longestAsked bounds what an endpoint may ask us to wait.
	longestAsked = 24 * time.Hour
)

// Gate is a tokens.Refresher in front of another one. It lets at most 4 refreshes at a token endpoint happen at once in
// all functions together, of which at most 3 are scheduled work, so that an export of a patient who waits has a place of
// its own; it keeps scheduled work away from an endpoint that fails, by a breaker; and it counts answers for the surge
// guard (issue 5, item 7). What goes wrong with Traffic never stops an export.
type Gate struct {
	Refresher tokens.Refresher
	Traffic   Traffic
	Now       func() time.Time
	NewID     ids.Source
	Scheduled bool
	// Patience is how long to wait for a slot. It is a part of the 45 seconds that a Keeper gives to a refresh.
	Patience time.Duration
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

// endpointName is how Traffic knows a token endpoint: the SHA-256 of its URL, in hex.
func endpointName(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

// Refresh implements tokens.Refresher. Its errors are those of the Refresher behind it and *BusyError.
func (g Gate) Refresh(ctx context.Context, tenant org.Tenant, old tokens.Set) (tokens.Set, error) {
	endpoint := endpointName(old.TokenEndpoint)
	if g.Scheduled {
		if _, err := g.breaker(ctx, endpoint); err != nil {
			return tokens.Set{}, err // before it waits for a slot in vain
		}
	}
	place, err := g.take(ctx, endpoint)
	if err != nil {
		return tokens.Set{}, err
	}
	fresh, err := g.visit(ctx, tenant, old, place)
	if err != nil {
		return tokens.Set{}, sheltered(err)
	}
	return fresh, nil
}

// visit asks the endpoint from a slot, and gives the slot back whatever happens: after a good answer not before the
// Keeper has stored it.
func (g Gate) visit(ctx context.Context, tenant org.Tenant, old tokens.Set, place slot) (tokens.Set, error) {
	isProbe, err := g.admit(ctx, place.endpoint)
	if err != nil {
		g.release(ctx, place)
		return tokens.Set{}, err
	}
	fresh, err := g.call(ctx, tenant, old, place.until)
	leave := func(ctx context.Context) {
		g.note(ctx, place.endpoint, isProbe, err)
		g.release(ctx, place)
	}
	if err != nil {
		leave(ctx)
		return tokens.Set{}, err
	}
	fresh.Stored = leave
	return fresh, nil
}

// call asks the endpoint, within the lease of the slot.
func (g Gate) call(ctx context.Context, tenant org.Tenant, old tokens.Set, until time.Time) (tokens.Set, error) {
	ctx, cancel := context.WithTimeout(ctx, until.Sub(g.Now())-slotMargin)
	defer cancel()
	if ctx.Err() != nil {
		return tokens.Set{}, g.busy()
	}
	return g.Refresher.Refresh(ctx, tenant, old)
}

// note tells the others how the endpoint has answered. A failure to do so is left at that.
func (g Gate) note(ctx context.Context, endpoint string, isProbe bool, outcome error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notesWithin)
	defer cancel()
	isRefused := errors.Is(outcome, tokens.ErrRefused)
	if outcome == nil || isRefused {
		_ = g.Traffic.Count(ctx, endpoint, g.Now(), isRefused)
	}
	if outcome == nil || isRefused || blames(outcome) {
		g.settle(ctx, endpoint, isProbe, outcome)
	}
}

// busy is the answer where it is not known when the endpoint can be asked.
func (g Gate) busy() error { return &BusyError{RetryAt: g.Now().Add(busyFor)} }

// sheltered keeps a failure on the way to the EHR from passing for an answer that a Keeper gives about the tokens: that
// a key of our client is missing must not look as if the tokens were.
func sheltered(err error) error {
	for _, mistakable := range []error{fault.NotFound, fault.Conflict, tokens.ErrNothingToRenew} {
		if errors.Is(err, mistakable) && !errors.Is(err, tokens.ErrRefused) {
			return &shelteredError{cause: err}
		}
	}
	return err
}

// shelteredError shows nothing of its cause but the text and whether the refresh token was used.
type shelteredError struct{ cause error }

func (s *shelteredError) Error() string { return s.cause.Error() }

// Unspent tells package tokens what the cause does.
func (s *shelteredError) Unspent() bool {
	cause, ok := errors.AsType[interface {
		error
		Unspent() bool
	}](s.cause)
	return ok && cause.Unspent()
}
