// Package share limits the number of concurrent exports per tenant, so that a burst from one organisation leaves
// workers for the others (docs/adr/0015-a-share-for-each-organisation.md). Each export occupies one of its tenant's
// slots, which the code calls places. A slot is leased, and its lease is renewed together with the task's lease. If no
// slot is free, the export waits in a line ordered by request time. A task that leaves a slot passes it to the first
// task in line. The package uses conditional writes to a single row per tenant instead of a counter, so a task that
// crashes blocks its slot only until the lease expires.
package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

const (
	// calledFor is the time for which a slot is reserved for a task called from the line. The time is long enough to
	// recover from a lost message.
	calledFor = 2 * time.Minute
	// lookAfter is the delay before the sweeper checks a share that has waiting tasks or a task called from the line.
	lookAfter = 30 * time.Second
	// announceEvery is the minimum interval between announcements of the line (AnnounceLine) by the tasks that join it.
	// announcedFor, an announcement's lifetime, is much longer than the delay of the line's index.
	announceEvery = 10 * time.Minute
	announcedFor  = time.Hour
	// moreTries plus the number of slots is the maximum number of attempts at a conditional write. All of a tenant's
	// workers write to the same row, so an attempt may lose its slot to another worker.
	moreTries = 10
)

// Rows stores each tenant's share and its line of waiting tasks. A line is stored as an eventually consistent index.
type Rows interface {
	// Share reads a tenant's share. It returns the zero Row if the share does not exist yet.
	Share(ctx context.Context, tenant org.Tenant) (Row, error)
	// TakePlace assigns a slot to a task. It returns fault.Conflict if the slot or JoinedAt has changed since the share
	// was read.
	TakePlace(ctx context.Context, tenant org.Tenant, seen Row, number int, next Holder) error
	// KeepPlace renews a slot's lease. It returns fault.Conflict if the task's claim no longer holds the slot.
	KeepPlace(ctx context.Context, place Place, until time.Time) error
	// LeavePlace frees a slot and returns the updated share. It returns fault.Conflict if the task's claim no longer
	// holds the slot.
	LeavePlace(ctx context.Context, place Place) (Row, error)
	// AnnounceLine sets JoinedAt and makes the share due at dueAt unless it is already due.
	AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error
	// EndLine clears JoinedAt and the share's due time. It returns fault.Conflict if JoinedAt has changed since the
	// share was read.
	EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error
	// JoinLine releases the task's lease and adds the task to the line. It returns fault.Conflict if another worker has
	// claimed the task.
	JoinLine(ctx context.Context, task export.Task, at time.Time) error
	// Line returns the first tasks in line, ordered by creation time.
	Line(ctx context.Context, tenant org.Tenant, limit int) ([]Waiting, error)
	// Task reads a task. It returns fault.NotFound if the task does not exist.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// CallTask removes a task from the line, stores its Waited field and makes it due at dueAt. It returns
	// fault.Conflict if the task is no longer waiting.
	CallTask(ctx context.Context, task export.Task, dueAt time.Time) error
}

// Waiting describes a task that is waiting in line.
type Waiting struct {
	TaskID    string
	CreatedAt time.Time
}

// Place identifies a task's slot, as recorded in its Holder.
type Place struct {
	Tenant org.Tenant
	TaskID string
	Claim  int64
	Number int
}

// Enqueuer sends a task to a worker (queue.Work).
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
}

// Share assigns slots to a tenant's exports. Any error other than fault.Conflict is an internal failure.
type Share struct {
	rows     Rows
	enqueuer Enqueuer
	size     int
	lease    time.Duration
	now      func() time.Time
}

// New returns a Share with size slots per tenant, but at least one. lease is the duration of a worker's lease.
func New(rows Rows, enqueuer Enqueuer, size int, lease time.Duration, now func() time.Time) Share {
	return Share{rows: rows, enqueuer: enqueuer, size: max(size, 1), lease: lease, now: now}
}

// Enter assigns a slot to a task that its worker has just claimed. It prefers a slot that is reserved for the task or
// was previously held by it. If no earlier task is waiting, Enter can assign any free slot. If no slot is available,
// the task joins the line of waiting tasks and the worker's claim ends.
func (s Share) Enter(ctx context.Context, task export.Task) (place Place, isIn bool, err error) {
	var row Row
	err = retry.OnConflict(ctx, s.size+moreTries, func() (err error) {
		if row, err = s.rows.Share(ctx, task.Tenant); err != nil {
			return fmt.Errorf("read share: %w", err)
		}
		now := s.now()
		place = Place{Tenant: task.Tenant, TaskID: task.ID, Claim: task.Generation}
		if place.Number, isIn, err = s.choose(ctx, task, row, now); err != nil || !isIn {
			return err
		}
		holder := Holder{TaskID: task.ID, Claim: task.Generation, Until: now.Add(s.lease)}
		if err = s.rows.TakePlace(ctx, task.Tenant, row, place.Number, holder); err != nil {
			return fmt.Errorf("take place: %w", err)
		}
		return nil
	})
	switch {
	case err == nil && isIn:
		s.leaveOthers(ctx, task, row, place.Number)
		return place, true, nil
	case err == nil || fault.IsStale(err):
		return Place{}, false, s.join(ctx, task, row)
	}
	return Place{}, false, err
}

// Keep renews a slot for the duration of a worker's lease. It returns fault.Conflict if the task has lost the slot.
func (s Share) Keep(ctx context.Context, place Place) error {
	if err := s.rows.KeepPlace(ctx, place, s.now().Add(s.lease)); err != nil {
		return fmt.Errorf("keep place: %w", err)
	}
	return nil
}

// Leave frees a slot and passes it to the first task in line, even if ctx is done. If Leave fails, lease expiry and the
// sweeper free the slot later.
func (s Share) Leave(ctx context.Context, place Place) {
	ctx = context.WithoutCancel(ctx)
	row, err := s.rows.LeavePlace(ctx, place)
	if err != nil {
		return
	}
	if err = s.admit(ctx, place.Tenant, row); errors.Is(err, fault.Conflict) {
		_ = s.Admit(ctx, place.Tenant)
	}
}

// leaveOthers frees all of a task's slots except the one that the task entered.
func (s Share) leaveOthers(ctx context.Context, task export.Task, row Row, entered int) {
	for _, number := range row.of(task.ID) {
		if number != entered {
			s.Leave(ctx, Place{Tenant: task.Tenant, TaskID: task.ID, Claim: row.Places[number].Claim, Number: number})
		}
	}
}

// choose selects one of the tenant's slots that the task can take.
func (s Share) choose(ctx context.Context, task export.Task, row Row,
	now time.Time,
) (number int, found bool, err error) {
	if own := row.of(task.ID); len(own) > 0 {
		return own[0], true, nil
	}
	free := row.free(s.size, now, task.ID)
	if len(free) == 0 {
		return 0, false, nil
	}
	if !row.JoinedAt.IsZero() {
		line, err := s.rows.Line(ctx, task.Tenant, 1)
		if err != nil {
			return 0, false, fmt.Errorf("read line: %w", err)
		}
		if len(line) > 0 && line[0].CreatedAt.Before(task.CreatedAt) {
			return 0, false, nil
		}
	}
	return free[0], true, nil
}

// join announces the line before it adds a task to the line. If the worker crashes between the two steps, the only
// effect is the announcement. A task that leaves its slot in the meantime does not see the task that is joining, so
// join calls Admit afterwards.
func (s Share) join(ctx context.Context, task export.Task, row Row) error {
	now := s.now()
	if now.Sub(row.JoinedAt) >= announceEvery {
		if err := s.rows.AnnounceLine(ctx, task.Tenant, now, now.Add(lookAfter)); err != nil {
			return fmt.Errorf("announce line: %w", err)
		}
	}
	err := s.rows.JoinLine(ctx, task, now)
	if errors.Is(err, fault.Conflict) {
		return nil // another worker has taken over the task, or the task has ended
	}
	if err != nil {
		return fmt.Errorf("join line: %w", err)
	}
	return s.Admit(ctx, task.Tenant)
}
