// Package exportmemory keeps an export in memory for tests: its task, by the rules of store.Work, and its objects, by those of
// blob.Bucket. It holds one task.
package exportmemory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Tasks keeps one task. It implements worker.Store. Its fields are for tests, while no worker is at it.
type Tasks struct {
	Task    export.Task
	Events  []webhook.Event // of the result
	Reports []webhook.Event // of progress
	LookAt  time.Time       // when the sweeper acts
	Extends int             // renewals of the lease
	Saves   int             // calls of ContinueTask

	mu sync.Mutex
}

// ClaimTask implements worker.Store.
func (s *Tasks) ClaimTask(_ context.Context, tenant org.Tenant, id string, now, leaseUntil time.Time) (export.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tenant != s.Task.Tenant || id != s.Task.ID || s.Task.Status != export.Pending || !s.Task.LeaseUntil.Before(now) {
		return export.Task{}, fault.Stale()
	}
	s.Task.Generation++
	s.Task.LeaseUntil, s.LookAt = leaseUntil, leaseUntil
	return s.Task, nil
}

// ExtendTask implements worker.Store.
func (s *Tasks) ExtendTask(_ context.Context, task export.Task, leaseUntil time.Time) error {
	return s.change(task, func() {
		s.Extends++
		s.Task.LeaseUntil, s.LookAt, s.Task.Progress = leaseUntil, leaseUntil, task.Progress
	})
}

// ReportTask implements worker.Store.
func (s *Tasks) ReportTask(_ context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	return s.change(task, func() {
		s.Extends++
		s.Task.LeaseUntil, s.LookAt, s.Task.Progress = leaseUntil, leaseUntil, task.Progress
		s.Task.ProgressAt, s.Task.ProgressSent = task.ProgressAt, task.ProgressSent
		s.Reports = append(s.Reports, event)
	})
}

// ContinueTask implements worker.Store.
func (s *Tasks) ContinueTask(_ context.Context, task export.Task, leaseUntil time.Time) (onward export.Task, err error) {
	err = s.change(task, func() {
		s.Saves++
		s.Task.Checkpoint, s.Task.Failures, s.Task.Progress = task.Checkpoint, 0, task.Progress
		s.Task.LeaseUntil, s.LookAt = leaseUntil, leaseUntil
		s.Task.Generation++
		onward = s.Task
	})
	return onward, err
}

// YieldTask implements worker.Store.
func (s *Tasks) YieldTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	if err := over(ctx); err != nil {
		return err
	}
	return s.change(task, func() {
		s.Task.Checkpoint, s.Task.Failures, s.Task.Progress = task.Checkpoint, task.Failures, task.Progress
		s.Task.LeaseUntil, s.LookAt = time.Time{}, dueAt
	})
}

// FinishTask implements worker.Store.
func (s *Tasks) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	if err := over(ctx); err != nil {
		return err
	}
	return s.change(task, func() {
		s.Task = task
		s.Task.LeaseUntil, s.LookAt = time.Time{}, task.FilesUntil
		s.Events = append(s.Events, event)
	})
}

// TakeOver is another worker's claim.
func (s *Tasks) TakeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Task.Generation++
}

// Now is the task as it is.
func (s *Tasks) Now() export.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Task
}

// change changes the task for who still holds it; else fault.Conflict.
func (s *Tasks) change(held export.Task, change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Task.Generation != held.Generation || s.Task.Status != export.Pending {
		return fault.Stale()
	}
	change()
	return nil
}

// over is an error once nothing can be asked in ctx any more.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}
