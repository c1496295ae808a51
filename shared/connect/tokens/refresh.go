package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

const (
	// leaseFor outlives a refresh call, whose answer should be stored under the lease.
	leaseFor = time.Minute
	// storeWithin is the part of the lease that is kept for sealing and storing.
	storeWithin = 15 * time.Second
	// firstPause between two tries, then twice as long each time: losing a rotated refresh token loses the
	// connection, so the write is retried hard. Each try is several of the SDK's.
	firstPause   = 50 * time.Millisecond
	tryFor       = 10 * time.Second // one try; a call that hangs is no reason to wait for ever
	releaseAfter = 5 * time.Second  // giving a lease back is worth this much time
)

var (
	errNoAccessToken = errors.New("the token response has no access token")
	errCollision     = errors.New("the write met another one")
	errTooLate       = errors.New("acquiring the lease left no time to refresh")
)

// refresh replaces the set of row. The row remembers from before the call until its end is known that the refresh
// token is in use, so that a crash in between can be told from a withdrawn consent.
func (m Manager) refresh(ctx context.Context, row Row, set Set) (Usable, error) {
	if set.RefreshToken.Empty() {
		return Usable{}, &UnrenewableError{Version: row.Version, ExpiresAt: set.ExpiresAt}
	}
	// A trial that the key to seal with is at hand: once the EHR has spent the old refresh token, a KMS that is busy
	// would cost the connection. The sealer keeps the key for the real thing.
	if _, err := m.vault.Seal(ctx, row.Tenant, row.ConnectionID, row.Version+1, set); err != nil {
		return Usable{}, err
	}
	leased, err := m.lease(ctx, row)
	if errors.Is(err, fault.Conflict) {
		return m.newerThan(ctx, row, err)
	}
	if err != nil {
		return Usable{}, err
	}
	// From here on a caller that gives up stops nothing: the EHR may have spent the old refresh token already, and
	// the new one exists nowhere but in its answer.
	ctx = context.WithoutCancel(ctx)
	fresh, version, err := m.exchange(ctx, leased, set)
	switch {
	case err == nil:
		return Usable{Set: fresh, Version: version}, nil
	case errors.Is(err, ErrRefused):
		return m.refused(ctx, row, leased, fault.SpotOf(err).Failed(refusalOf(row, set.TokenEndpoint)))
	case errors.Is(err, fault.Conflict): // of the store
		return m.newerThan(ctx, leased, err) // which may be what was to be stored
	case isUnspent(err) || errors.Is(err, errTooLate):
		leased.RefreshStartedAt = row.RefreshStartedAt
	}
	m.release(ctx, leased)
	return Usable{}, err
}

// exchange asks the EHR from a slot at its token endpoint and stores what it answers. The slot is given back after
// that: until a rotated refresh token is stored a crash can lose it, so nothing that can wait comes before.
func (m Manager) exchange(ctx context.Context, leased Row, old Set) (fresh Set, version int64, err error) {
	asking, cancel := context.WithTimeout(ctx, leased.LeaseUntil.Sub(m.now())-storeWithin)
	defer cancel()
	if asking.Err() != nil {
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", errTooLate)
	}
	slot, err := m.limiter.Acquire(asking, old.TokenEndpoint)
	if err != nil {
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", opaque(err))
	}
	fresh, asked := m.ask(asking, slot, leased.Tenant, old)
	if asked != nil {
		slot.Release(ctx, asked)
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", opaque(asked))
	}
	version, err = m.keep(ctx, leased, fresh)
	slot.Release(ctx, nil)
	return fresh, version, err
}

// ask asks the EHR, within the time of the slot. What the answer leaves out stays as it was (RFC 6749 section 6).
func (m Manager) ask(ctx context.Context, slot Slot, tenant org.Tenant, old Set) (Set, error) {
	ctx, cancel := context.WithTimeout(ctx, slot.Until().Sub(m.now()))
	defer cancel()
	fresh, err := m.refresher.Refresh(ctx, tenant, old)
	if err != nil {
		return Set{}, err
	}
	if fresh.AccessToken.Empty() {
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

// lease takes the row and marks it: from now on its refresh token may have been used.
func (m Manager) lease(ctx context.Context, row Row) (Row, error) {
	now, leased := m.now(), row
	leased.LeaseOwner, leased.LeaseUntil = m.newID(), now.Add(leaseFor)
	err := m.store.LeaseTokens(ctx, leased, now)
	if err != nil {
		if !errors.Is(err, fault.Conflict) {
			m.release(ctx, leased) // the write may have taken effect
		}
		return Row{}, fmt.Errorf("lease tokens: %w", err)
	}
	leased.RefreshStartedAt = cmp.Or(row.RefreshStartedAt, now)
	return leased, nil
}

// release gives a lease back early. That it may fail is no matter: the lease ends by itself, too.
func (m Manager) release(ctx context.Context, leased Row) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseAfter)
	defer cancel()
	_ = m.store.ReleaseTokens(ctx, leased)
}

// refused returns the refusal, which says nothing once another worker has stored a newer set, or has the lease: that
// one may have spent the refresh token and be about to store its successor. What was unknown about the token's use
// before, stays so: a later refusal has the same cause.
func (m Manager) refused(ctx context.Context, before, leased Row, refusal error) (Usable, error) {
	newer, err := m.newerThan(ctx, leased, refusal)
	leased.RefreshStartedAt = before.RefreshStartedAt
	m.release(ctx, leased)
	return newer, err
}

// newerThan returns what somebody else has stored since old was read; else the failure stands.
func (m Manager) newerThan(ctx context.Context, old Row, failure error) (Usable, error) {
	row, set, err := m.read(ctx, old.Tenant, old.ConnectionID)
	if err != nil {
		return Usable{}, err
	}
	if row.Version != old.Version {
		return Usable{Set: set, Version: row.Version}, nil
	}
	if errors.Is(failure, ErrRefused) && row.LeaseOwner != old.LeaseOwner {
		failure = fault.Stale()
	}
	return Usable{}, failure
}

// keep seals and stores a refreshed set as the version after the leased one, and returns that version. Errors are those
// of rotate, or that it could not be sealed.
func (m Manager) keep(ctx context.Context, leased Row, fresh Set) (version int64, err error) {
	var next Row
	err = persist(ctx, func(ctx context.Context) (bool, error) {
		next, err = m.vault.Seal(ctx, leased.Tenant, leased.ConnectionID, leased.Version+1, fresh)
		return false, err
	})
	if err != nil {
		return 0, err
	}
	return next.Version, m.rotate(ctx, next)
}

// rotate stores next, whoever has the lease by now: the version alone says that nothing newer is there. fault.Conflict
// when this or another successor is, fault.NotFound when the tokens are gone.
func (m Manager) rotate(ctx context.Context, next Row) error {
	err := persist(ctx, func(ctx context.Context) (final bool, err error) {
		err = m.store.RotateTokens(ctx, next)
		if errors.Is(err, fault.Conflict) {
			err = m.conflict(ctx, next, err)
		}
		return errors.Is(err, fault.Conflict) || errors.Is(err, fault.NotFound), err
	})
	if err != nil {
		return fmt.Errorf("store refreshed tokens: %w", err)
	}
	return nil
}

// conflict finds out what a conflict means. One that only met other writers may still succeed. Otherwise the version is
// stored: by another worker, or by this one, whose write conflicts with its own repetition after a lost answer.
func (m Manager) conflict(ctx context.Context, next Row, cause error) error {
	row, err := m.store.Tokens(ctx, next.Tenant, next.ConnectionID)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	if row.Version == next.Version-1 {
		return errCollision
	}
	return cause
}

// persist tries until it works, the failure is final, or the tries are used up.
func persist(ctx context.Context, try func(context.Context) (final bool, err error)) error {
	isFinal := false
	again := retry.Policy{
		Tries: retry.Tries, Again: func(error) bool { return !isFinal }, Pause: firstPause, Random: nil,
	}
	return again.Do(ctx, func() (err error) {
		within, cancel := context.WithTimeout(ctx, tryFor)
		defer cancel()
		isFinal, err = try(within)
		return err
	})
}
