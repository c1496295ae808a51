package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// ShareAt tells when the sweeper looks at a tenant's share, zero for never. It is no call.
func (m *Tasks) ShareAt(tenant org.Tenant) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sharesAt[tenant]
}

// Share implements share.Rows.
func (m *Tasks) Share(ctx context.Context, tenant org.Tenant) (found share.Row, err error) {
	err = m.do(ctx, "Share", func() error {
		found = m.share(tenant)
		return nil
	})
	return found, err
}

// share copies a tenant's share.
func (m *Tasks) share(tenant org.Tenant) share.Row {
	stored := m.shares[tenant]
	return share.Row{Places: maps.Clone(stored.Places), JoinedAt: stored.JoinedAt}
}

// TakePlace implements share.Rows.
func (m *Tasks) TakePlace(ctx context.Context, tenant org.Tenant, seen share.Row, place int, next share.Holder) error {
	return m.changeShare(ctx, "TakePlace", tenant, func(stored *share.Row) error {
		was, isHeld := stored.Places[place]
		as, wasHeld := seen.Places[place]
		if isHeld != wasHeld || was.TaskID != as.TaskID || was.Claim != as.Claim || !was.Until.Equal(as.Until) ||
			!stored.JoinedAt.Equal(seen.JoinedAt) {
			return fault.Stale()
		}
		stored.Places[place] = next
		return nil
	})
}

// holds reports whether a place is still its task's claim's.
func holds(stored share.Row, place share.Place) bool {
	holder := stored.Places[place.Number]
	return holder.TaskID == place.TaskID && holder.Claim == place.Claim
}

// KeepPlace implements share.Rows.
func (m *Tasks) KeepPlace(ctx context.Context, place share.Place, until time.Time) error {
	return m.changeShare(ctx, "KeepPlace", place.Tenant, func(stored *share.Row) error {
		if !holds(*stored, place) {
			return fault.Stale()
		}
		stored.Places[place.Number] = share.Holder{TaskID: place.TaskID, Claim: place.Claim, Until: until}
		return nil
	})
}

// LeavePlace implements share.Rows.
func (m *Tasks) LeavePlace(ctx context.Context, place share.Place) (after share.Row, err error) {
	err = m.changeShare(ctx, "LeavePlace", place.Tenant, func(stored *share.Row) error {
		if !holds(*stored, place) {
			return fault.Stale()
		}
		delete(stored.Places, place.Number)
		after = share.Row{Places: maps.Clone(stored.Places), JoinedAt: stored.JoinedAt}
		return nil
	})
	return after, err
}

// AnnounceLine implements share.Rows.
func (m *Tasks) AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error {
	return m.changeShare(ctx, "AnnounceLine", tenant, func(stored *share.Row) error {
		if joinedAt.After(stored.JoinedAt) {
			stored.JoinedAt = joinedAt
		}
		if m.sharesAt[tenant].IsZero() {
			m.lookAtShare(tenant, dueAt)
		}
		return nil
	})
}

// EndLine implements share.Rows.
func (m *Tasks) EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error {
	return m.changeShare(ctx, "EndLine", tenant, func(stored *share.Row) error {
		if !stored.JoinedAt.Equal(seen) {
			return fault.Stale()
		}
		stored.JoinedAt = time.Time{}
		m.lookAtShare(tenant, time.Time{})
		return nil
	})
}

// PostponeShare sets when the sweeper looks at a share next. It is no call.
func (m *Tasks) PostponeShare(tenant org.Tenant, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookAtShare(tenant, until)
}

func (m *Tasks) lookAtShare(tenant org.Tenant, at time.Time) {
	if m.sharesAt == nil {
		m.sharesAt = map[org.Tenant]time.Time{}
	}
	m.sharesAt[tenant] = at
}

// JoinLine implements share.Rows.
func (m *Tasks) JoinLine(ctx context.Context, task export.Task, at time.Time) error {
	return m.do(ctx, "JoinLine", func() error {
		stored := m.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending || stored.LeaseUntil.IsZero() {
			return fault.Stale()
		}
		stored.WaitingSince, stored.LeaseUntil = at, time.Time{}
		m.keep(stored, time.Time{})
		return nil
	})
}

// Line implements share.Rows. It is never behind.
func (m *Tasks) Line(ctx context.Context, tenant org.Tenant, limit int) (line []share.Waiting, err error) {
	err = m.do(ctx, "Line", func() error {
		for at, task := range m.tasks {
			if at.tenant == tenant && task.Status == export.Pending && !task.WaitingSince.IsZero() {
				line = append(line, share.Waiting{TaskID: task.ID, CreatedAt: task.CreatedAt})
			}
		}
		slices.SortFunc(line, func(a, b share.Waiting) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.TaskID, b.TaskID))
		})
		line = line[:min(limit, len(line))]
		return nil
	})
	return line, err
}

// CallTask implements share.Rows.
func (m *Tasks) CallTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	return m.do(ctx, "CallTask", func() error {
		stored := m.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending || stored.WaitingSince.IsZero() ||
			!stored.WaitingSince.Equal(task.WaitingSince) {
			return fault.Stale()
		}
		stored.Waited, stored.WaitingSince = task.Waited, time.Time{}
		m.keep(stored, dueAt)
		return nil
	})
}

// changeShare changes a tenant's share, or nothing of it.
func (m *Tasks) changeShare(ctx context.Context, call string, tenant org.Tenant,
	change func(stored *share.Row) error,
) error {
	return m.do(ctx, call, func() error {
		stored := m.share(tenant)
		if stored.Places == nil {
			stored.Places = map[int]share.Holder{}
		}
		if err := change(&stored); err != nil {
			return err
		}
		if m.shares == nil {
			m.shares = map[org.Tenant]share.Row{}
		}
		m.shares[tenant] = stored
		return nil
	})
}
