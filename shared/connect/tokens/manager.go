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

// Manager returns usable access tokens, refreshing them when needed. A Manager is safe for concurrent use.
type Manager struct {
	store     Store
	vault     Vault
	refresher Refresher
	limiter   Limiter
	now       func() time.Time
	newID     ids.Source
}

// NewManager returns a Manager. All arguments are required. newID generates lease owner IDs.
func NewManager(store Store, vault Vault, refresher Refresher, limiter Limiter, now func() time.Time,
	newID ids.Source,
) Manager {
	return Manager{store: store, vault: vault, refresher: refresher, limiter: limiter, now: now, newID: newID}
}

// Usable holds a token set that is ready to use.
type Usable struct {
	Set     Set
	Version int64
	// Overdue is the error that prevented a due refresh, or nil if no refresh is due.
	Overdue error
}

// Current returns the connection's token set, refreshing it first if the access token is about to expire. If the
// refresh fails temporarily and the stored access token has not expired, Current returns the stored set and sets
// Overdue. It returns fault.NotFound if the connection has no tokens, *RefusalError if the EHR refused the refresh
// token, and fault.Conflict if another worker is refreshing the token set. It returns *UnrenewableError if the access
// token has expired and there is no refresh token. All other errors are transient.
func (m Manager) Current(ctx context.Context, tenant org.Tenant, connectionID string) (Usable, error) {
	row, set, err := m.read(ctx, tenant, connectionID)
	if err != nil {
		return Usable{}, err
	}
	return m.usable(ctx, row, set)
}

// Renew replaces an unexpired token set that the EHR no longer accepts. If the stored version differs from used, the
// version that the EHR rejected, Renew behaves like Current. It returns the same errors as Current, except that a
// failed refresh of the rejected version is always an error.
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

// Refresh replaces a token set regardless of its age, so that its refresh token does not expire unused. It returns the
// same errors as Renew. It returns *UnrenewableError even while the access token is valid. It returns fault.Conflict if
// another worker is refreshing the token set or has just tried to.
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

// usable returns the row's token set, refreshing it first if the access token is about to expire.
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
