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

// refreshBefore is the remaining life below which an access token is refreshed before it is handed out.
const refreshBefore = 2 * time.Minute

// Manager hands out usable access tokens and refreshes them when needed. It is safe for concurrent use.
type Manager struct {
	store     Store
	vault     Vault
	refresher Refresher
	limiter   Limiter
	now       func() time.Time
	newID     ids.Source
}

// NewManager returns a Manager; all arguments are required. newID names the owners of leases.
func NewManager(store Store, vault Vault, refresher Refresher, limiter Limiter, now func() time.Time,
	newID ids.Source,
) Manager {
	return Manager{store: store, vault: vault, refresher: refresher, limiter: limiter, now: now, newID: newID}
}

// Usable is a token set that can be used now.
type Usable struct {
	Set     Set
	Version int64
	// Overdue is the error that prevented a refresh which is due; nil if none is due.
	Overdue error
}

// Current returns a token set whose access token lives long enough, refreshing it first if it does not. If that fails
// temporarily and the stored access token has not expired, the set is returned with Overdue. Errors: fault.NotFound
// without tokens, *RefusalError, *UnrenewableError after an access token without a refresh token has expired,
// fault.Conflict while another worker refreshes; all others are transient.
func (m Manager) Current(ctx context.Context, tenant org.Tenant, connectionID string) (Usable, error) {
	row, set, err := m.read(ctx, tenant, connectionID)
	if err != nil {
		return Usable{}, err
	}
	return m.usable(ctx, row, set)
}

// Renew replaces a token set that the EHR no longer accepts although it has not expired. If a version other than used
// is stored by now, Renew returns that one as Current does. It returns the errors of Current, but a failed refresh is
// always an error.
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

// Refresh replaces a token set whatever its age, so that a refresh token that must not lie idle is used. It returns the
// errors of Renew, with two differences. *UnrenewableError is also returned while the access token is valid.
// fault.Conflict means that another worker is refreshing or has just refreshed the set.
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

// usable returns the set of row, or its successor if it is about to expire.
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

// passes reports whether the existing access token remains usable despite a failed refresh.
func passes(err error) bool {
	return !errors.Is(err, ErrRefused) && !errors.Is(err, ErrNothingToRenew) && !errors.Is(err, fault.NotFound)
}
