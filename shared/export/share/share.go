// Package share bounds the number of concurrent exports of one tenant, so that a burst of one organisation leaves
// workers for the others (docs/adr/0015-a-share-for-each-organisation.md). An export runs in one of its tenant's
// places, under a lease that is renewed with the task's own. If no place is free, it waits in line, in the order in
// which exports were requested, and a task that leaves a place gives it to the first in line. There is no counter:
// places are conditional writes to one row of the tenant, so that a crash blocks a place no longer than its lease.
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
	// calledFor is the time for which a place is reserved for a task called from the line: long enough to recover from a
	// lost message.
	calledFor = 2 * time.Minute
	// lookAfter is the earliest time at which the sweeper checks a share with a line, or a called task.
	lookAfter = 30 * time.Second
	// announceEvery is the interval at which joining tasks announce the line again, and announcedFor the time for which an
	// announcement holds: much longer than the delay of the line's index.
	announceEvery = 10 * time.Minute
	announcedFor  = time.Hour
	// moreTries is the number of tries in addition to one per place. All workers of a tenant write the same row, and a try
	// that loses to another worker finds a place taken.
	moreTries = 10
)

// Rows stores shares and the line. The line is an eventually consistent index.
type Rows interface {
	// Share reads a tenant's share; the zero value if there is none yet.
	Share(ctx context.Context, tenant org.Tenant) (Row, error)
	// TakePlace gives a place to a task. It returns fault.Conflict if the place, or JoinedAt, has changed since it was
	// read.
	TakePlace(ctx context.Context, tenant org.Tenant, seen Row, number int, next Holder) error
	// KeepPlace renews a place. It returns fault.Conflict if the task's claim no longer has it.
	KeepPlace(ctx context.Context, place Place, until time.Time) error
	// LeavePlace frees a place and returns the share after that. It returns fault.Conflict like KeepPlace.
	LeavePlace(ctx context.Context, place Place) (Row, error)
	// AnnounceLine sets JoinedAt. The share becomes due at dueAt, unless it is already due.
	AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error
	// EndLine clears JoinedAt and the share's due time. It returns fault.Conflict if JoinedAt has changed since it was
	// read.
	EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error
	// JoinLine releases the task's lease and puts the task into the line. It returns fault.Conflict if another worker has
	// it.
	JoinLine(ctx context.Context, task export.Task, at time.Time) error
	// Line lists the first tasks in line, in the order of their creation.
	Line(ctx context.Context, tenant org.Tenant, limit int) ([]Waiting, error)
	// Task reads a task. It returns fault.NotFound if there is none.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// CallTask removes a task, as it was read, from the line and stores Waited. It returns fault.Conflict if the task no
	// longer waits. The task becomes due at dueAt.
	CallTask(ctx context.Context, task export.Task, dueAt time.Time) error
}

// Waiting is a task in line.
type Waiting struct {
	TaskID    string
	CreatedAt time.Time
}

// Place is a task's place, as recorded in its Holder.
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

// Share assigns the places of tenants. Errors other than fault.Conflict are internal failures.
type Share struct {
	rows     Rows
	enqueuer Enqueuer
	size     int
	lease    time.Duration
	now      func() time.Time
}

// New returns a Share in which each tenant has size places, at least one. lease is the duration of a worker's lease.
func New(rows Rows, enqueuer Enqueuer, size int, lease time.Duration, now func() time.Time) Share {
	return Share{rows: rows, enqueuer: enqueuer, size: max(size, 1), lease: lease, now: now}
}

// Enter finds a place for a task that its worker has just claimed: the one that it was called to or had before, or a
// free one if no earlier task waits for it. If there is none, the task waits in line and its worker no longer holds it.
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

// Keep renews a place for a worker's lease. It returns fault.Conflict if the task has lost it.
func (s Share) Keep(ctx context.Context, place Place) error {
	if err := s.rows.KeepPlace(ctx, place, s.now().Add(s.lease)); err != nil {
		return fmt.Errorf("keep place: %w", err)
	}
	return nil
}

// Leave frees a place and gives it to the first in line. It works even if the run's context has just ended. The end of
// the lease and the sweeper make up for failures.
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

// leaveOthers frees a task's places other than the one that it has entered.
func (s Share) leaveOthers(ctx context.Context, task export.Task, row Row, entered int) {
	for _, number := range row.of(task.ID) {
		if number != entered {
			s.Leave(ctx, Place{Tenant: task.Tenant, TaskID: task.ID, Claim: row.Places[number].Claim, Number: number})
		}
	}
}

// choose finds the place that a task can take.
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

// join puts a task into the line, which is announced first: a crash in between announces an empty line. A task that
// left a place in the meantime has not seen this one, so the places are checked once more.
func (s Share) join(ctx context.Context, task export.Task, row Row) error {
	now := s.now()
	if now.Sub(row.JoinedAt) >= announceEvery {
		if err := s.rows.AnnounceLine(ctx, task.Tenant, now, now.Add(lookAfter)); err != nil {
			return fmt.Errorf("announce line: %w", err)
		}
	}
	err := s.rows.JoinLine(ctx, task, now)
	if errors.Is(err, fault.Conflict) {
		return nil // another worker has taken the task over, or it has ended
	}
	if err != nil {
		return fmt.Errorf("join line: %w", err)
	}
	return s.Admit(ctx, task.Tenant)
}
