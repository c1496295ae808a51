package waits_test

import (
	"context"
	"sync/atomic"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// life is a single worker invocation, which requests a token and ends with the result that the test supplies.
type life struct {
	rows

	world  *world
	ends   chan error // supplies the run's result
	isDead atomic.Bool
	taskID string // claimed task's ID; empty before the claim
}

// Current implements source.Tokens by blocking until the test supplies the run's result.
func (l *life) Current(ctx context.Context, _ org.Tenant, _ string) (tokens.Usable, error) {
	select {
	case err := <-l.ends:
		return tokens.Usable{}, err
	case <-ctx.Done():
		return tokens.Usable{}, context.Cause(ctx)
	}
}

// Renew implements source.Tokens.
func (*life) Renew(context.Context, org.Tenant, string, int64) (tokens.Usable, error) {
	return tokens.Usable{}, errDead
}

// Connection implements source.Connections.
func (*life) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{}, nil
}

// Endpoint implements source.Endpoints.
func (*life) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{}, nil
}

// Asking implements source.Platforms.
func (*life) Asking(catalog.Endpoint) (plan.Profile, error) { return plan.Profile{}, nil }

// RefreshDue implements worker.Refreshes.
func (*life) RefreshDue(context.Context, org.Tenant, string, time.Time) error { return nil }

// EnqueueTask implements export.Enqueuer.
func (l *life) EnqueueTask(ctx context.Context, of org.Tenant, id string, delay time.Duration) error {
	return l.call(func() error { return l.world.Send(ctx, due.Item{Tenant: of, Kind: due.Task, ID: id}, delay) })
}

// EnqueueEvent implements export.Enqueuer.
func (*life) EnqueueEvent(context.Context, org.Tenant, string) error { return nil }

// ClaimTask implements worker.Store.
func (l *life) ClaimTask(ctx context.Context, of org.Tenant, id string, now,
	until time.Time,
) (task export.Task, err error) {
	err = l.call(func() error {
		if task, err = l.rows.ClaimTask(ctx, of, id, now, until); err == nil {
			l.world.claimed(l, task)
		}
		return err
	})
	return task, err
}

// ExtendTask implements worker.Store.
func (l *life) ExtendTask(ctx context.Context, task export.Task, until time.Time) error {
	return l.call(func() error { return l.rows.ExtendTask(ctx, task, until) })
}

// YieldTask implements worker.Store.
func (l *life) YieldTask(ctx context.Context, task export.Task, until, dueAt time.Time) error {
	return l.call(func() error { return l.rows.YieldTask(ctx, task, until, dueAt) })
}

// FinishTask implements worker.Store.
func (l *life) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	return l.call(func() error { return l.rows.FinishTask(ctx, task, event) })
}

// JoinLine implements share.Rows.
func (l *life) JoinLine(ctx context.Context, task export.Task, at time.Time) error {
	return l.call(func() error {
		err := l.rows.JoinLine(ctx, task, at)
		if err == nil {
			l.world.joined(task)
		}
		return err
	})
}

// KeepPlace implements share.Rows.
func (l *life) KeepPlace(ctx context.Context, place share.Place, until time.Time) error {
	return l.call(func() error { return l.rows.KeepPlace(ctx, place, until) })
}

// LeavePlace implements share.Rows.
func (l *life) LeavePlace(ctx context.Context, place share.Place) (row share.Row, err error) {
	err = l.call(func() error { row, err = l.rows.LeavePlace(ctx, place); return err })
	return row, err
}

// TakePlace implements share.Rows.
func (l *life) TakePlace(ctx context.Context, of org.Tenant, seen share.Row, place int, next share.Holder) error {
	return l.call(func() error { return l.rows.TakePlace(ctx, of, seen, place, next) })
}

// CallTask implements share.Rows.
func (l *life) CallTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	return l.call(func() error { return l.rows.CallTask(ctx, task, dueAt) })
}

// worker returns the invocation's export worker. After a worker has crashed, its calls have no effect.
func (l *life) worker() worker.Worker {
	l.rows = l.world.rows
	return worker.Worker{
		Store: l, Refreshes: l, Enqueuer: l, Now: time.Now, Lease: lease, Retention: 8 * 24 * time.Hour,
		Source: source.Opener{
			Tokens: l, Now: time.Now,
			Profiles: source.Profiles{Connections: l, Endpoints: l, Platforms: l},
		},
		Share: share.New(l, l, 1, lease, time.Now),
	}
}

func (l *life) crash() {
	l.isDead.Store(true)
	l.world.mu.Lock()
	delete(l.world.running, l.taskID)
	l.world.mu.Unlock()
	l.ends <- errDead
}

func (l *life) call(effect func() error) error {
	if l.isDead.Load() {
		return errDead
	}
	return effect()
}
