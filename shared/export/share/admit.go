package share

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// Admit assigns a tenant's free slots to the first tasks in line. It is idempotent. If no task is waiting, it does
// nothing.
func (s Share) Admit(ctx context.Context, tenant org.Tenant) error {
	err := retry.OnConflict(ctx, s.size+moreTries, func() error {
		row, err := s.rows.Share(ctx, tenant)
		if err != nil {
			return fmt.Errorf("read share: %w", err)
		}
		return s.admit(ctx, tenant, row)
	})
	if fault.IsStale(err) {
		return nil // each worker that changed the row admits tasks itself
	}
	return err
}

// admit implements Admit for a share that has already been read. It returns fault.Conflict if the stored share has
// changed.
func (s Share) admit(ctx context.Context, tenant org.Tenant, row Row) error {
	now := s.now()
	free := row.free(s.size, now, "")
	if row.JoinedAt.IsZero() || len(free) == 0 {
		return nil
	}
	line, err := s.rows.Line(ctx, tenant, len(free)+len(row.Places)) // the index may still list a task that has a slot
	if err != nil {
		return fmt.Errorf("read line: %w", err)
	}
	if len(line) == 0 && now.Sub(row.JoinedAt) > announcedFor {
		if err := s.rows.EndLine(ctx, tenant, row.JoinedAt); err != nil {
			return fmt.Errorf("end line: %w", err)
		}
		return nil
	}
	for _, waiting := range line {
		if len(free) == 0 {
			return nil
		}
		called, err := s.call(ctx, tenant, row, free[0], waiting.TaskID)
		if err != nil {
			return err
		}
		if called {
			free = free[1:]
		}
	}
	return nil
}

// call assigns a free slot to a task in line, removes the task from the line, and sends the task's message. After a
// crash between any two of these steps, either the slot expires soon or the task is due.
func (s Share) call(ctx context.Context, tenant org.Tenant, row Row, number int,
	taskID string,
) (called bool, err error) {
	task, err := s.rows.Task(ctx, tenant, taskID)
	if errors.Is(err, fault.NotFound) || err == nil && (task.Status != export.Pending || task.WaitingSince.IsZero()) {
		return false, nil // the index is stale
	}
	if err != nil {
		return false, fmt.Errorf("read task: %w", err)
	}
	now := s.now()
	next := Holder{TaskID: taskID, Claim: 0, Until: now.Add(calledFor)}
	if err = s.rows.TakePlace(ctx, tenant, row, number, next); err != nil {
		return false, fmt.Errorf("take place: %w", err)
	}
	task.Waited += max(now.Sub(task.WaitingSince), 0)
	err = s.rows.CallTask(ctx, task, now.Add(lookAfter))
	if errors.Is(err, fault.Conflict) {
		_, err = s.rows.LeavePlace(ctx, Place{Tenant: tenant, TaskID: taskID, Claim: next.Claim, Number: number})
		if err == nil {
			err = fault.Stale() // a retry gives the slot to another task
		}
	}
	if err != nil {
		return false, fmt.Errorf("call task: %w", err)
	}
	_ = s.enqueuer.EnqueueTask(ctx, tenant, taskID, 0)
	return true, nil
}
