package memory

import (
	"context"
	"slices"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
)

// Due implements due.Rows for pending tasks and for shares, all of which are in every shard. It is never behind.
func (m *Tasks) Due(ctx context.Context, _ int, before time.Time) (items []due.Item, err error) {
	err = m.do(ctx, "Due", func() error {
		for at, moment := range m.lookAt {
			if m.tasks[at].Status == export.Pending && !moment.IsZero() && !moment.After(before) {
				items = append(items, due.Item{Tenant: at.tenant, Kind: due.Task, ID: at.id, At: moment})
			}
		}
		for tenant, moment := range m.sharesAt {
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
func (m *Tasks) Postpone(ctx context.Context, i due.Item, until time.Time) error {
	return m.do(ctx, "Postpone", func() error {
		at := row{i.Tenant, i.ID}
		switch {
		case i.Kind == due.Share && m.sharesAt[i.Tenant].Equal(i.At):
			m.lookAtShare(i.Tenant, until)
		case i.Kind == due.Task && m.lookAt[at].Equal(i.At):
			m.lookAt[at] = until
		default:
			return fault.Stale()
		}
		return nil
	})
}
