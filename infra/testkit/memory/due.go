package memory

import (
	"context"
	"slices"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
)

// dueRows implements due.Rows.
type dueRows struct{ *ledger }

// Due implements due.Rows for pending tasks and for shares. Its result is always up to date, and it ignores the shard
// number.
func (r dueRows) Due(ctx context.Context, _ int, before time.Time) (items []due.Item, err error) {
	err = r.do(ctx, "Due", func() error {
		for at, moment := range r.lookAt {
			if r.tasks[at].Status == export.Pending && !moment.IsZero() && !moment.After(before) {
				items = append(items, due.Item{Tenant: at.tenant, Kind: due.Task, ID: at.id, At: moment})
			}
		}
		for tenant, moment := range r.sharesAt {
			if !moment.IsZero() && !moment.After(before) {
				items = append(items, due.Item{Tenant: tenant, Kind: due.Share, ID: tenant.OrgID, At: moment})
			}
		}
		slices.SortFunc(items, func(a, b due.Item) int { return a.At.Compare(b.At) })
		return nil
	})
	return items, err
}

// Postpone implements due.Rows.
func (r dueRows) Postpone(ctx context.Context, i due.Item, until time.Time) error {
	return r.do(ctx, "Postpone", func() error {
		at := row{i.Tenant, i.ID}
		switch {
		case i.Kind == due.Share && r.sharesAt[i.Tenant].Equal(i.At):
			r.lookAtShare(i.Tenant, until)
		case i.Kind == due.Task && r.lookAt[at].Equal(i.At):
			r.lookAt[at] = until
		default:
			return fault.Stale()
		}
		return nil
	})
}
