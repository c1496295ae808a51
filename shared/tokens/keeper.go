package tokens

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
)

// ErrRefused says that the EHR definitely refused the refresh token: consent was revoked or has expired. Any other
// failure of a refresh is transient and never means that (decisions section 5).
var ErrRefused = errors.New("the refresh token was refused")

const (
	// refreshBefore is how much life an access token must have left to be handed out.
	refreshBefore = 2 * time.Minute
	// leaseFor outlives a refresh call, whose answer must be stored under the lease.
	leaseFor = time.Minute
	// refreshWithin bounds that call; the rest of the lease is for sealing and storing.
	refreshWithin = 45 * time.Second
	// rotateTries: losing a rotated refresh token loses the connection, so the write is retried hard.
	rotateTries = 5
)

// Keeper hands out usable access tokens and refreshes them when needed.
type Keeper struct {
	Store     Store
	Vault     Vault
	Refresher Refresher
	Now       func() time.Time
	NewID     ids.Source
}

// Current returns a token set whose access token lives long enough, refreshing it first when it does not. Errors:
// fault.NotFound without tokens, ErrRefused, fault.Conflict while another worker refreshes, else transient.
func (k Keeper) Current(ctx context.Context, tenant org.Tenant, connectionID string) (Set, int64, error) {
	row, set, err := k.read(ctx, tenant, connectionID)
	if err != nil {
		return Set{}, 0, err
	}
	left := set.ExpiresAt.Sub(k.Now())
	if left > refreshBefore || (set.RefreshToken.Empty() && left > 0) {
		return set, row.Version, nil
	}
	return k.refresh(ctx, row, set)
}

// Renew replaces a token set that the EHR no longer accepts although it has not expired. Where another worker has
// stored a newer version than used, that one is returned.
func (k Keeper) Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (Set, int64, error) {
	row, set, err := k.read(ctx, tenant, connectionID)
	if err != nil || row.Version > used {
		return set, row.Version, err
	}
	return k.refresh(ctx, row, set)
}

func (k Keeper) read(ctx context.Context, tenant org.Tenant, connectionID string) (Row, Set, error) {
	row, err := k.Store.Tokens(ctx, tenant, connectionID)
	if err != nil {
		return Row{}, Set{}, fmt.Errorf("read tokens: %w", err)
	}
	set, err := k.Vault.Open(ctx, row)
	return row, set, err
}

func (k Keeper) refresh(ctx context.Context, row Row, set Set) (Set, int64, error) {
	if set.RefreshToken.Empty() {
		return Set{}, 0, ErrRefused
	}
	// A trial that the key to seal with is at hand: once the EHR has spent the old refresh token, a KMS that is busy
	// would cost the connection. The sealer keeps the key for the real thing.
	if _, err := k.Vault.Seal(ctx, row.Tenant, row.ConnectionID, row.Version+1, set); err != nil {
		return Set{}, 0, err
	}
	now := k.Now()
	row.LeaseOwner, row.LeaseUntil = k.NewID(), now.Add(leaseFor)
	if err := k.Store.LeaseTokens(ctx, row, now); err != nil {
		return k.newerThan(ctx, row, err)
	}
	// From here on a caller that gives up stops nothing: the EHR may have spent the old refresh token already, and
	// the new one exists nowhere but in its answer.
	ctx = context.WithoutCancel(ctx)
	fresh, err := k.call(ctx, set)
	if errors.Is(err, ErrRefused) {
		return k.newerThan(ctx, row, err)
	}
	if err != nil {
		return Set{}, 0, fmt.Errorf("refresh tokens: %w", err)
	}
	next, err := k.seal(ctx, row, fresh)
	if err != nil {
		return Set{}, 0, err
	}
	next.LeaseOwner = row.LeaseOwner
	if err := k.rotate(ctx, next); err != nil {
		return Set{}, 0, err
	}
	return fresh, next.Version, nil
}

func (k Keeper) call(ctx context.Context, old Set) (Set, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	return k.Refresher.Refresh(ctx, old)
}

// newerThan settles a lost lease or a refusal: when somebody else has stored a newer version meanwhile, that is the
// answer; else the failure stands. A refusal says nothing once another worker has the lease: that one may have spent
// the refresh token and be about to store its successor.
func (k Keeper) newerThan(ctx context.Context, old Row, failure error) (Set, int64, error) {
	row, set, err := k.read(ctx, old.Tenant, old.ConnectionID)
	if err != nil {
		return Set{}, 0, err
	}
	if row.Version > old.Version {
		return set, row.Version, nil
	}
	if errors.Is(failure, ErrRefused) && row.LeaseOwner != old.LeaseOwner {
		failure = fault.Stale()
	}
	return Set{}, 0, fmt.Errorf("refresh tokens: %w", failure)
}

// seal seals a refreshed set, as hard as rotate stores it.
func (k Keeper) seal(ctx context.Context, old Row, fresh Set) (next Row, err error) {
	for range rotateTries {
		if next, err = k.Vault.Seal(ctx, old.Tenant, old.ConnectionID, old.Version+1, fresh); err == nil {
			break
		}
	}
	return next, err
}

func (k Keeper) rotate(ctx context.Context, next Row) error {
	var err error
	for range rotateTries {
		err = k.Store.RotateTokens(ctx, next)
		if err == nil || errors.Is(err, fault.Conflict) {
			break
		}
	}
	if errors.Is(err, fault.Conflict) && k.stored(ctx, next) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store refreshed tokens: %w", err)
	}
	return nil
}

// stored reports whether next is what the row holds: a write whose answer was lost conflicts with its own retry.
func (k Keeper) stored(ctx context.Context, next Row) bool {
	row, err := k.Store.Tokens(ctx, next.Tenant, next.ConnectionID)
	return err == nil && row.Version == next.Version && bytes.Equal(row.Sealed, next.Sealed)
}
