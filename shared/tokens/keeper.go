package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
)

// refreshBefore is how much life an access token must have left to be handed out without a refresh.
const refreshBefore = 2 * time.Minute

// Keeper hands out usable access tokens and refreshes them when needed.
type Keeper struct {
	Store     Store
	Vault     Vault
	Refresher Refresher
	Now       func() time.Time
	NewID     ids.Source
}

// Current returns a token set whose access token lives long enough, and its version, refreshing it first when it does
// not. Where that fails for now and the stored access token has not expired, it is handed out with Set.Overdue.
// Errors: fault.NotFound without tokens, *RefusalError, *UnrenewableError once an access token without a refresh token has
// expired, fault.Conflict while another worker refreshes, else transient.
func (k Keeper) Current(ctx context.Context, tenant org.Tenant, connectionID string) (Set, int64, error) {
	row, set, err := k.read(ctx, tenant, connectionID)
	if err != nil {
		return Set{}, 0, err
	}
	return k.usable(ctx, row, set)
}

// Renew replaces a token set that the EHR no longer accepts although it has not expired. Where another version than
// used is stored by now, that one is returned as Current does. Errors are those of Current, but a failed refresh is
// always one.
func (k Keeper) Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (Set, int64, error) {
	row, set, err := k.read(ctx, tenant, connectionID)
	if err != nil {
		return Set{}, 0, err
	}
	if row.Version != used {
		return k.usable(ctx, row, set)
	}
	return k.refresh(ctx, row, set)
}

// Refresh replaces a token set whatever its age, so that a refresh token that must not lie idle is used. Errors are those
// of Renew, but *UnrenewableError comes also while the access token lasts; here fault.Conflict says that another worker is
// refreshing, or has just refreshed, the set.
func (k Keeper) Refresh(ctx context.Context, tenant org.Tenant, connectionID string) (Set, int64, error) {
	row, set, err := k.read(ctx, tenant, connectionID)
	if err != nil {
		return Set{}, 0, err
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

// usable returns the set of row, or its successor when it is about to expire.
func (k Keeper) usable(ctx context.Context, row Row, set Set) (Set, int64, error) {
	left := set.ExpiresAt.Sub(k.Now())
	if left > refreshBefore || (set.RefreshToken.Empty() && left > 0) {
		return set, row.Version, nil
	}
	fresh, version, err := k.refresh(ctx, row, set)
	if err == nil || !passes(err) || !k.Now().Before(set.ExpiresAt) {
		return fresh, version, err
	}
	set.Overdue = err
	return set, row.Version, nil
}

// passes reports whether a failed refresh says nothing about the access token that is there.
func passes(err error) bool {
	return !errors.Is(err, ErrRefused) && !errors.Is(err, ErrNothingToRenew) && !errors.Is(err, fault.NotFound)
}
