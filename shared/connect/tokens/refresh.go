package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

const (
	// leaseFor is the duration of a lease. A lease outlasts a refresh call's timeout, so the response can be stored
	// before the lease expires.
	leaseFor = time.Minute
	// storeWithin is the part of the lease reserved for sealing and storing the new set.
	storeWithin = 15 * time.Second
	// firstPause is the pause between the first two tries. Each subsequent pause is twice as long as the previous one,
	// up to longestPause. Losing a rotated refresh token means losing the connection, so the write is retried
	// persistently. Each try includes the SDK's own retries.
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
	// persistMargin is the time before the caller's deadline at which a write is no longer retried.
	persistMargin = 15 * time.Second
	tryFor        = 10 * time.Second // timeout for a single try, in case a call hangs
	releaseAfter  = 5 * time.Second  // timeout for releasing a lease
)

var (
	errNoAccessToken = errors.New("the token response has no access token")
	errCollision     = errors.New("the write met another one")
	errTooLate       = errors.New("acquiring the lease left no time to refresh")
)

// refresh replaces the row's token set. Before the call, it marks the row's refresh token as in use. RefreshStartedAt
// remains set until the call's outcome is known. If the token is refused later, RefreshStartedAt shows that the cause
// may be a crash rather than withdrawn consent.
func (m Manager) refresh(ctx context.Context, row Row, set Set) (Usable, error) {
	if set.RefreshToken.Empty() {
		return Usable{}, &UnrenewableError{Version: row.Version, ExpiresAt: set.ExpiresAt}
	}
	// Sealing a token set before the refresh verifies that the key is available. If KMS throttled the call after the
	// EHR had consumed the old refresh token, the connection would be lost. The sealer caches the key for the actual
	// write.
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
	// From this point on, the caller can't cancel the refresh. The EHR may already have consumed the old refresh token,
	// and only the EHR's response contains the new one.
	deadline, _ := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	fresh, version, err := m.exchange(ctx, leased, set, deadline)
	switch {
	case err == nil:
		return Usable{Set: fresh, Version: version}, nil
	case errors.Is(err, ErrRefused):
		return m.refused(ctx, row, leased, fault.SpotOf(err).Failed(refusalOf(row, set.TokenEndpoint)))
	case errors.Is(err, fault.Conflict): // the stored row changed
		return m.newerThan(ctx, leased, err) // the newer token set may have been stored by this worker itself
	case isUnspent(err) || errors.Is(err, errTooLate):
		leased.RefreshStartedAt = row.RefreshStartedAt
	}
	m.release(ctx, leased)
	return Usable{}, err
}

// exchange waits for a slot at the EHR's token endpoint, sends the refresh request, stores the response and then
// releases the slot. A crash before the write would lose the rotated refresh token, so exchange doesn't block between
// the response and the write. If an AWS service fails, exchange retries the write until shortly before deadline.
func (m Manager) exchange(ctx context.Context, leased Row, old Set, deadline time.Time) (fresh Set, version int64,
	err error,
) {
	asking, cancel := context.WithTimeout(ctx, leased.LeaseUntil.Sub(m.now())-storeWithin)
	defer cancel()
	if asking.Err() != nil {
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", errTooLate)
	}
	slot, err := m.limiter.Acquire(asking, old.TokenEndpoint)
	if err != nil {
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", opaque(err))
	}
	fresh, asked := m.requestRefresh(asking, slot, leased.Tenant, old)
	if asked != nil {
		slot.Release(ctx, asked)
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", opaque(asked))
	}
	version, err = m.storeRefreshed(ctx, leased, fresh, deadline)
	slot.Release(ctx, nil)
	return fresh, version, err
}

// requestRefresh sends the refresh request with the slot's expiry as its deadline. Values missing from the response
// remain unchanged (RFC 6749 section 6).
func (m Manager) requestRefresh(ctx context.Context, slot Slot, tenant org.Tenant, old Set) (Set, error) {
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
	fresh.AskedScope = old.AskedScope // a refresh doesn't ask the patient to approve scopes
	return fresh, nil
}

// lease leases the row and marks its refresh token as possibly used.
func (m Manager) lease(ctx context.Context, row Row) (Row, error) {
	now, leased := m.now(), row
	leased.LeaseOwner, leased.LeaseUntil = m.newID(), now.Add(leaseFor)
	err := m.store.LeaseTokens(ctx, leased, now)
	if err != nil {
		if !errors.Is(err, fault.Conflict) {
			m.release(ctx, leased) // the lease may have been stored despite the error
		}
		return Row{}, fmt.Errorf("lease tokens: %w", err)
	}
	leased.RefreshStartedAt = cmp.Or(row.RefreshStartedAt, now)
	return leased, nil
}

// release ends a lease early. A failure to release the lease is harmless, because the lease expires anyway.
func (m Manager) release(ctx context.Context, leased Row) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseAfter)
	defer cancel()
	_ = m.store.ReleaseTokens(ctx, leased)
}

// refused returns the refusal unless another worker has stored a newer token set or holds the lease. A worker that
// holds the lease may have used the refresh token but not yet stored its successor. If the outcome of an earlier use of
// the token is unknown, RefreshStartedAt keeps its value, so a later refusal is reported with the same cause.
func (m Manager) refused(ctx context.Context, before, leased Row, refusal error) (Usable, error) {
	newer, err := m.newerThan(ctx, leased, refusal)
	leased.RefreshStartedAt = before.RefreshStartedAt
	m.release(ctx, leased)
	return newer, err
}

// newerThan returns the token set stored since old was read, or failure if there is none.
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

// storeRefreshed seals a refreshed set, stores it as the version after the leased version, and returns that version. It
// returns any error from sealing or rotate.
func (m Manager) storeRefreshed(ctx context.Context, leased Row, fresh Set, deadline time.Time) (version int64,
	err error,
) {
	var next Row
	err = m.persist(ctx, deadline, func(ctx context.Context) (bool, error) {
		next, err = m.vault.Seal(ctx, leased.Tenant, leased.ConnectionID, leased.Version+1, fresh)
		return false, err
	})
	if err != nil {
		return 0, err
	}
	return next.Version, m.rotate(ctx, next, deadline)
}

// rotate stores next if the stored version is its predecessor, regardless of which worker holds the lease. It returns
// fault.Conflict if next or another successor is already stored, and fault.NotFound if the tokens no longer exist.
func (m Manager) rotate(ctx context.Context, next Row, deadline time.Time) error {
	err := m.persist(ctx, deadline, func(ctx context.Context) (final bool, err error) {
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

// conflict returns errCollision, which can be retried, if the write failed only because it collided with another
// transaction. It returns cause if the version is already stored, whether by another worker or by an earlier try whose
// response was lost.
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

// persist calls try until it succeeds, fails permanently, or has been called retry.Tries times. While an AWS service
// fails, persist continues until shortly before deadline, so that the outage doesn't lose the connection.
func (m Manager) persist(ctx context.Context, deadline time.Time,
	try func(context.Context) (final bool, err error),
) error {
	isFinal, tries := false, 0
	again := retry.Policy{
		Tries: math.MaxInt, Pause: firstPause, Most: longestPause, Random: nil,
		Again: func(err error) bool {
			isInTime := fault.Outage(err) && m.now().Before(deadline.Add(-persistMargin))
			return !isFinal && (tries < retry.Tries || isInTime)
		},
	}
	return again.Do(ctx, func() (err error) {
		tries++
		within, cancel := context.WithTimeout(ctx, tryFor)
		defer cancel()
		isFinal, err = try(within)
		return err
	})
}
