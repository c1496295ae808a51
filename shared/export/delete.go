package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Deletions is the part of the task store needed to delete files early. All reads are consistent.
type Deletions interface {
	// Task reads a task. It returns fault.NotFound if the task does not exist.
	Task(ctx context.Context, tenant org.Tenant, id string) (Task, error)
	// ExpireFiles sets the expiry of a successful task's files to the current time and schedules the sweeper to run at
	// lookAt. It returns fault.Conflict if the files have already expired.
	ExpireFiles(ctx context.Context, task Task, now, lookAt time.Time) error
}

// Remover deletes objects. Deleting an object that does not exist is not an error.
type Remover interface {
	Delete(ctx context.Context, key string) error
}

// Deleter deletes an export's files before they expire (docs/reference/deviations.md, "Exports").
type Deleter struct {
	Tasks Deletions
	Files Remover
	Now   func() time.Time
}

// Delete expires a task's files and deletes everything that the task's runs stored in the bucket. Expired files can't
// be downloaded, and later export requests won't reuse the task. Delete returns the task and is idempotent. After a
// crash, the sweeper deletes the remaining objects once no run can still be writing. A failed task keeps its expiry,
// because the sweeper will clean it up soon.
//
// Delete returns the error from Missing if the task does not exist. It returns fault.Invalid while the export is
// running, because a running export has no files yet.
func (d Deleter) Delete(ctx context.Context, tenant org.Tenant, id string) (Task, error) {
	task, err := d.Tasks.Task(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return Task{}, Missing()
	}
	if err != nil {
		return Task{}, fmt.Errorf("read task: %w", err)
	}
	if task.Status == Pending {
		return Task{}, fault.BadRequest("The export is still running. Delete its connection, or wait until the " +
			"export has ended.")
	}
	if err := d.expire(ctx, task); err != nil {
		return Task{}, err
	}
	for _, key := range task.Objects() {
		if err := d.Files.Delete(ctx, key); err != nil {
			return Task{}, fmt.Errorf("delete file: %w", err)
		}
	}
	return task, nil
}

// expire expires files that are still available for download.
func (d Deleter) expire(ctx context.Context, task Task) error {
	now, lookAt := d.Now(), task.FinishedAt.Add(objectGrace)
	if task.Status != Success || !now.Before(task.FilesUntil) {
		return nil
	}
	if lookAt.Before(now) {
		lookAt = now
	}
	err := d.Tasks.ExpireFiles(ctx, task, now, lookAt)
	if err != nil && !errors.Is(err, fault.Conflict) { // on conflict, the files have already expired
		return fmt.Errorf("end the files' time: %w", err)
	}
	return nil
}
