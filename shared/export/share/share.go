// Package share bounds how many exports of one tenant run at the same time, so that one organisation's flood leaves
// workers to the others (docs/adr/0015-a-share-for-each-organisation.md). An export runs in one of its tenant's places,
// under a lease that is renewed with the task's own. One that finds no place waits in line, in the order in which
// exports were asked for, and who leaves a place gives it to the first. Nothing is counted: places are conditional
// writes to one row of the tenant, so that a crash leaves none taken for longer than its lease.
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
	// calledFor is for how long a place is kept for a task that was called out of the line: a lost
	// message is made up for before.
	calledFor = 2 * time.Minute
	// lookAfter is when the sweeper looks at a share that has a line, or at a called task, at the earliest.
	lookAfter = 30 * time.Second
	// announceEvery is after how long the line is announced again by who joins it, and announcedFor how long that holds:
	// longer by far than the line's index is behind.
	announceEvery = 10 * time.Minute
	announcedFor  = time.Hour
	// moreTries is the number of tries beyond one for each place. All workers of a tenant write the same row, and a try
	// that loses to one of them has found a place taken.
	moreTries = 10
)

// Rows keeps shares and the line. The line is an index, which is some moments behind.
type Rows interface {
	// Share reads a tenant's share, which is zero where there is none yet.
	Share(ctx context.Context, tenant org.Tenant) (Row, error)
	// TakePlace gives a place to a task; fault.Conflict when the place, or JoinedAt, is not as it was seen any more.
	TakePlace(ctx context.Context, tenant org.Tenant, seen Row, number int, next Holder) error
	// KeepPlace renews a place; fault.Conflict when the claim of its task does not have it any more.
	KeepPlace(ctx context.Context, place Place, until time.Time) error
	// LeavePlace frees a place and returns what the share is after that; fault.Conflict as KeepPlace.
	LeavePlace(ctx context.Context, place Place) (Row, error)
	// AnnounceLine sets JoinedAt. The share is due at a time, unless it is due already.
	AnnounceLine(ctx context.Context, tenant org.Tenant, joinedAt, dueAt time.Time) error
	// EndLine clears JoinedAt and when the share is due; fault.Conflict when JoinedAt is not as it was seen any more.
	EndLine(ctx context.Context, tenant org.Tenant, seen time.Time) error
	// JoinLine gives the task's lease back and puts it into the line; fault.Conflict when another worker has it.
	JoinLine(ctx context.Context, task export.Task, at time.Time) error
	// Line lists the first tasks in line, in the order of their creation.
	Line(ctx context.Context, tenant org.Tenant, limit int) ([]Waiting, error)
	// Task reads a task; fault.NotFound.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// CallTask takes a task, as it was read, out of the line and stores Waited; fault.Conflict when it does not wait any
	// more. It is due at a time.
	CallTask(ctx context.Context, task export.Task, dueAt time.Time) error
}

// Waiting is a task in line.
type Waiting struct {
	TaskID    string
	CreatedAt time.Time
}

// Place is a place that a task has, as its Holder says.
type Place struct {
	Tenant org.Tenant
	TaskID string
	Claim  int64
	Number int
}

// Enqueuer tells a worker to look at a task (queue.Work).
type Enqueuer interface {
	EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error
}

// Share gives the places of tenants out. Errors that are not fault.Conflict are failures on our side.
type Share struct {
	rows     Rows
	enqueuer Enqueuer
	size     int
	lease    time.Duration
	now      func() time.Time
}

// New makes the Share in which each tenant has size places, at least one. lease is a worker's.
func New(rows Rows, enqueuer Enqueuer, size int, lease time.Duration, now func() time.Time) Share {
	return Share{rows: rows, enqueuer: enqueuer, size: max(size, 1), lease: lease, now: now}
}

// Enter finds a place for a task that its worker has just claimed: the one that it was called to or had before,
// or a free one when nobody who came before waits for it. Where there is none, the task waits in line and is
// not its worker's any more.
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

// Keep renews a place for a worker's lease; fault.Conflict when the task has lost it.
func (s Share) Keep(ctx context.Context, place Place) error {
	if err := s.rows.KeepPlace(ctx, place, s.now().Add(s.lease)); err != nil {
		return fmt.Errorf("keep place: %w", err)
	}
	return nil
}

// Leave frees a place and gives it to the first in line. It works also when the run's time has just ended. What fails
// is made up for when the lease ends, and by the sweeper.
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

// leaveOthers frees the places that a task has beside the one that it has entered.
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

// join puts a task into the line, which is announced before: a crash in between announces a line that is not there. Who
// left a place meanwhile has not seen the task, so the places are looked at once more.
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
