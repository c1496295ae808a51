package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// refreshBefore is the remaining lifetime below which Manager refreshes an access token before returning it.
const refreshBefore = 2 * time.Minute

// Manager returns usable access tokens and refreshes tokens when needed. A Manager is safe for concurrent use.
type Manager struct {
	store     Store
	vault     Vault
	refresher Refresher
	limiter   Limiter
	now       func() time.Time
	newID     ids.Source
}

// NewManager returns a Manager. All arguments are required. newID generates the IDs of lease owners.
func NewManager(store Store, vault Vault, refresher Refresher, limiter Limiter, now func() time.Time,
	newID ids.Source,
) Manager {
	return Manager{store: store, vault: vault, refresher: refresher, limiter: limiter, now: now, newID: newID}
}

// Usable holds a token set that can be used now.
type Usable struct {
	Set     Set
	Version int64
	// Overdue is the error that prevented a due refresh, or nil if no refresh is due.
	Overdue error
}

// Current returns a token set whose access token has enough lifetime left. If necessary, it first refreshes the set. If
// the refresh fails temporarily and the stored access token has not expired, Current returns the stored set with
// Overdue. It returns fault.NotFound if there are no tokens, *RefusalError after a refusal, and fault.Conflict while
// another worker refreshes the set. It returns *UnrenewableError if an access token without a refresh token has
// expired. All other errors are transient.
func (m Manager) Current(ctx context.Context, tenant org.Tenant, connectionID string) (Usable, error) {
	row, set, err := m.read(ctx, tenant, connectionID)
	if err != nil {
		return Usable{}, err
	}
	return m.usable(ctx, row, set)
}

// Renew replaces a token set that has not expired but that the EHR no longer accepts. If the stored version differs
// from the version that the EHR rejected, Renew returns the stored set as Current does. Renew returns the same errors
// as Current, except that a failed refresh is always an error.
func (m Manager) Renew(ctx context.Context, tenant org.Tenant, connectionID string, used int64) (Usable, error) {
	row, set, err := m.read(ctx, tenant, connectionID)
	if err != nil {
		return Usable{}, err
	}
	if row.Version != used {
		return m.usable(ctx, row, set)
	}
	return m.refresh(ctx, row, set)
}

// Refresh replaces a token set regardless of its age, so that the set's refresh token does not expire unused. Refresh
// returns the same errors as Renew, with two differences. It returns *UnrenewableError even while the access token is
// valid. fault.Conflict means that another worker is refreshing or has just refreshed the set.
func (m Manager) Refresh(ctx context.Context, tenant org.Tenant, connectionID string) (Usable, error) {
	row, set, err := m.read(ctx, tenant, connectionID)
	if err != nil {
		return Usable{}, err
	}
	return m.refresh(ctx, row, set)
}

func (m Manager) read(ctx context.Context, tenant org.Tenant, connectionID string) (Row, Set, error) {
	row, err := m.store.Tokens(ctx, tenant, connectionID)
	if err != nil {
		return Row{}, Set{}, fmt.Errorf("read tokens: %w", err)
	}
	set, err := m.vault.Open(ctx, row)
	return row, set, err
}

// usable returns the row's token set, or the set's successor if the set is about to expire.
func (m Manager) usable(ctx context.Context, row Row, set Set) (Usable, error) {
	left := set.ExpiresAt.Sub(m.now())
	if left > refreshBefore || (set.RefreshToken.Empty() && left > 0) {
		return Usable{Set: set, Version: row.Version}, nil
	}
	fresh, err := m.refresh(ctx, row, set)
	if err == nil || !passes(err) || !m.now().Before(set.ExpiresAt) {
		return fresh, err
	}
	return Usable{Set: set, Version: row.Version, Overdue: err}, nil
}

// passes reports whether the existing access token remains usable after a failed refresh.
func passes(err error) bool {
	return !errors.Is(err, ErrRefused) && !errors.Is(err, ErrNothingToRenew) && !errors.Is(err, fault.NotFound)
}
