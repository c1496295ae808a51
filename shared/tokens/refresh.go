package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
)

const (
	// leaseFor outlives a refresh call, whose answer should be stored under the lease.
	leaseFor = time.Minute
	// storeWithin is the part of the lease that is kept for sealing and storing.
	storeWithin = 15 * time.Second
	// rotateTries: losing a rotated refresh token loses the connection, so the write is retried hard. Each try is
	// several of the SDK's.
	rotateTries  = 6
	firstPause   = 50 * time.Millisecond // between two tries; then twice as long each time
	tryFor       = 10 * time.Second      // one try; a call that hangs is no reason to wait for ever
	releaseAfter = 5 * time.Second       // giving a lease back is worth this much time
)

var (
	errNoAccessToken = errors.New("the EHR's answer brought no access token")
	errUnsettled     = errors.New("the write met another one")
	errTooLate       = errors.New("leasing took so long that there is no time left to refresh")
)

// refresh replaces the set of row. The row remembers from before the call until its end is known that the refresh
// token is in use, so that a crash in between can be told from a withdrawn consent.
func (k Keeper) refresh(ctx context.Context, row Row, set Set) (Set, int64, error) {
	if set.RefreshToken.Empty() {
		return Set{}, 0, &UnrenewableError{Version: row.Version, ExpiresAt: set.ExpiresAt}
	}
	// A trial that the key to seal with is at hand: once the EHR has spent the old refresh token, a KMS that is busy
	// would cost the connection. The sealer keeps the key for the real thing.
	if _, err := k.Vault.Seal(ctx, row.Tenant, row.ConnectionID, row.Version+1, set); err != nil {
		return Set{}, 0, err
	}
	leased, err := k.lease(ctx, row)
	if errors.Is(err, fault.Conflict) {
		return k.newerThan(ctx, row, err)
	}
	if err != nil {
		return Set{}, 0, err
	}
	// From here on a caller that gives up stops nothing: the EHR may have spent the old refresh token already, and
	// the new one exists nowhere but in its answer.
	ctx = context.WithoutCancel(ctx)
	fresh, err := k.call(ctx, leased, set)
	if errors.Is(err, ErrRefused) {
		return k.refused(ctx, row, leased, set.TokenEndpoint)
	}
	if err != nil {
		if isUnspent(err) || errors.Is(err, errTooLate) {
			leased.RefreshStartedAt = row.RefreshStartedAt
		}
		k.release(ctx, leased)
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", err)
	}
	if fresh.Stored != nil {
		defer fresh.Stored(ctx)
		fresh.Stored = nil
	}
	next, err := k.seal(ctx, leased, fresh)
	if err == nil {
		err = k.rotate(ctx, next)
	}
	switch {
	case err == nil:
		return fresh, next.Version, nil
	case errors.Is(err, fault.Conflict):
		return k.newerThan(ctx, leased, err) // which may be next itself
	}
	k.release(ctx, leased)
	return Set{}, 0, err
}

// lease takes the row and marks it: from now on its refresh token may have been used.
func (k Keeper) lease(ctx context.Context, row Row) (Row, error) {
	now, leased := k.Now(), row
	leased.LeaseOwner, leased.LeaseUntil = k.NewID(), now.Add(leaseFor)
	err := k.Store.LeaseTokens(ctx, leased, now)
	if err != nil {
		if !errors.Is(err, fault.Conflict) {
			k.release(ctx, leased) // the write may have taken effect
		}
		return Row{}, fmt.Errorf("lease tokens: %w", err)
	}
	leased.RefreshStartedAt = cmp.Or(row.RefreshStartedAt, now)
	return leased, nil
}

// release gives a lease back early. That it may fail is no matter: the lease ends by itself, too.
func (k Keeper) release(ctx context.Context, leased Row) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseAfter)
	defer cancel()
	_ = k.Store.ReleaseTokens(ctx, leased)
}

// call asks the EHR, within the lease. What the answer leaves out stays as it was (RFC 6749 section 6).
func (k Keeper) call(ctx context.Context, leased Row, old Set) (Set, error) {
	ctx, cancel := context.WithTimeout(ctx, leased.LeaseUntil.Sub(k.Now())-storeWithin)
	defer cancel()
	if ctx.Err() != nil {
		return Set{}, errTooLate
	}
	fresh, err := k.Refresher.Refresh(ctx, leased.Tenant, old)
	if err != nil {
		return Set{}, err
	}
	if fresh.AccessToken.Empty() {
		if fresh.Stored != nil {
			fresh.Stored(ctx)
		}
		return Set{}, errNoAccessToken
	}
	if fresh.RefreshToken.Empty() {
		fresh.RefreshToken = old.RefreshToken
	}
	if fresh.PatientID.Empty() {
		fresh.PatientID = old.PatientID
	}
	if len(fresh.Extra) == 0 {
		fresh.Extra = old.Extra
	}
	fresh.Scope = cmp.Or(fresh.Scope, old.Scope)
	fresh.AskedScope = old.AskedScope // nobody asks the patient on a refresh
	return fresh, nil
}

// refused settles a refusal. It says nothing once another worker has stored a newer set, or has the lease: that one may
// have spent the refresh token and be about to store its successor. What was unknown about the token's use before,
// stays so: a later refusal has the same cause.
func (k Keeper) refused(ctx context.Context, before, leased Row, endpoint string) (Set, int64, error) {
	set, version, err := k.newerThan(ctx, leased, refusalOf(before, endpoint))
	leased.RefreshStartedAt = before.RefreshStartedAt
	k.release(ctx, leased)
	return set, version, err
}

// newerThan returns what somebody else has stored since old was read; else the failure stands.
func (k Keeper) newerThan(ctx context.Context, old Row, failure error) (Set, int64, error) {
	row, set, err := k.read(ctx, old.Tenant, old.ConnectionID)
	if err != nil {
		return Set{}, 0, err
	}
	if row.Version != old.Version {
		return set, row.Version, nil
	}
	if errors.Is(failure, ErrRefused) && row.LeaseOwner != old.LeaseOwner {
		failure = fault.Stale()
	}
	return Set{}, 0, failure
}

// seal seals a refreshed set, as hard as rotate stores it.
func (k Keeper) seal(ctx context.Context, old Row, fresh Set) (next Row, err error) {
	err = hard(ctx, func(ctx context.Context) (bool, error) {
		next, err = k.Vault.Seal(ctx, old.Tenant, old.ConnectionID, old.Version+1, fresh)
		return false, err
	})
	return next, err
}

// rotate stores next, whoever has the lease by now: the version alone says that nothing newer is there. fault.Conflict
// when this or another successor is, fault.NotFound when the tokens are gone.
func (k Keeper) rotate(ctx context.Context, next Row) error {
	err := hard(ctx, func(ctx context.Context) (final bool, err error) {
		err = k.Store.RotateTokens(ctx, next)
		if errors.Is(err, fault.Conflict) {
			err = k.settle(ctx, next, err)
		}
		return errors.Is(err, fault.Conflict) || errors.Is(err, fault.NotFound), err
	})
	if err != nil {
		return fmt.Errorf("store refreshed tokens: %w", err)
	}
	return nil
}

// settle finds out what a conflict means. One that only met other writers may still succeed. Otherwise the version is
// stored: by another worker, or by this one, whose write conflicts with its own repetition after a lost answer.
func (k Keeper) settle(ctx context.Context, next Row, conflict error) error {
	row, err := k.Store.Tokens(ctx, next.Tenant, next.ConnectionID)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	if row.Version == next.Version-1 {
		return errUnsettled
	}
	return conflict
}

// hard tries until it works, the failure is final, or the tries are used up.
func hard(ctx context.Context, try func(context.Context) (final bool, err error)) error {
	for n := 1; ; n++ {
		final, err := within(ctx, try)
		if err == nil || final || n == rotateTries {
			return err
		}
		timer := time.NewTimer(firstPause << (n - 1))
		<-timer.C
	}
}

func within(ctx context.Context, try func(context.Context) (final bool, err error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	return try(ctx)
}
