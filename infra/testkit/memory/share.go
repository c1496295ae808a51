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

// ShareAt returns the time at which the sweeper next examines a tenant's share, or the zero time if no such time is
// set.
func (f fixture) ShareAt(tenant org.Tenant) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sharesAt[tenant]
}

// shareRows implements share.Rows.
type shareRows struct{ *ledger }

// Share implements share.Rows.
func (r shareRows) Share(ctx context.Context, tenant org.Tenant) (found share.Row, err error) {
	err = r.do(ctx, "Share", func() error {
		found = r.share(tenant)
		return nil
	})
	return found, err
}

// share returns a copy of a tenant's share.
func (l *ledger) share(tenant org.Tenant) share.Row {
	stored := l.shares[tenant]
	return share.Row{Places: maps.Clone(stored.Places), JoinedAt: stored.JoinedAt}
}

// TakePlace implements share.Rows.
func (r shareRows) TakePlace(ctx context.Context, tenant org.Tenant, seen share.Row, place int,
	next share.Holder,
) error {
	return r.changeShare(ctx, "TakePlace", tenant, func(stored *share.Row) error {
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

// holds reports whether the stored slot still belongs to place's claim.
func holds(stored share.Row, place share.Place) bool {
	holder := stored.Places[place.Number]
	return holder.TaskID == place.TaskID && holder.Claim == place.Claim
}

// KeepPlace implements share.Rows.
func (r shareRows) KeepPlace(ctx context.Context, place share.Place, until time.Time) error {
	return r.changeShare(ctx, "KeepPlace", place.Tenant, func(stored *share.Row) error {
		if !holds(*stored, place) {
			return fault.Stale()
		}
		stored.Places[place.Number] = share.Holder{TaskID: place.TaskID, Claim: place.Claim, Until: until}
		return nil
	})
}

// LeavePlace implements share.Rows.
func (r shareRows) LeavePlace(ctx context.Context, place share.Place) (after share.Row, err error) {
	err = r.changeShare(ctx, "LeavePlace", place.Tenant, func(stored *share.Row) error {
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
func (r shareRows) AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error {
	return r.changeShare(ctx, "AnnounceLine", tenant, func(stored *share.Row) error {
		if joinedAt.After(stored.JoinedAt) {
			stored.JoinedAt = joinedAt
		}
		if r.sharesAt[tenant].IsZero() {
			r.lookAtShare(tenant, dueAt)
		}
		return nil
	})
}

// EndLine implements share.Rows.
func (r shareRows) EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error {
	return r.changeShare(ctx, "EndLine", tenant, func(stored *share.Row) error {
		if !stored.JoinedAt.Equal(seen) {
			return fault.Stale()
		}
		stored.JoinedAt = time.Time{}
		r.lookAtShare(tenant, time.Time{})
		return nil
	})
}

// PostponeShare sets the time at which the sweeper next examines a share.
func (f fixture) PostponeShare(tenant org.Tenant, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookAtShare(tenant, until)
}

func (l *ledger) lookAtShare(tenant org.Tenant, at time.Time) {
	l.sharesAt[tenant] = at
}

// JoinLine implements share.Rows.
func (r shareRows) JoinLine(ctx context.Context, task export.Task, at time.Time) error {
	return r.do(ctx, "JoinLine", func() error {
		stored := r.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending || stored.LeaseUntil.IsZero() {
			return fault.Stale()
		}
		stored.WaitingSince, stored.LeaseUntil = at, time.Time{}
		r.keep(stored, time.Time{})
		return nil
	})
}

// Line implements share.Rows with results that are always up to date.
func (r shareRows) Line(ctx context.Context, tenant org.Tenant, limit int) (line []share.Waiting, err error) {
	err = r.do(ctx, "Line", func() error {
		for at, task := range r.tasks {
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
func (r shareRows) CallTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	return r.do(ctx, "CallTask", func() error {
		stored := r.tasks[row{task.Tenant, task.ID}]
		if stored.Generation != task.Generation || stored.Status != export.Pending || stored.WaitingSince.IsZero() ||
			!stored.WaitingSince.Equal(task.WaitingSince) {
			return fault.Stale()
		}
		stored.Waited, stored.WaitingSince = task.Waited, time.Time{}
		r.keep(stored, dueAt)
		return nil
	})
}

// changeShare applies change to a tenant's share. If change fails, the share is not modified.
func (r shareRows) changeShare(ctx context.Context, call string, tenant org.Tenant,
	change func(stored *share.Row) error,
) error {
	return r.do(ctx, call, func() error {
		stored := r.share(tenant)
		if stored.Places == nil {
			stored.Places = map[int]share.Holder{}
		}
		if err := change(&stored); err != nil {
			return err
		}
		r.shares[tenant] = stored
		return nil
	})
}
