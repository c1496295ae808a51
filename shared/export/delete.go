package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Deletions is what deleting files early needs of the tasks' store. Reads are consistent.
type Deletions interface {
	// Task reads a task; fault.NotFound.
	Task(ctx context.Context, tenant org.Tenant, id string) (Task, error)
	// ExpireFiles ends the time of a successful task's files at now and has the sweeper look at it at lookAt;
	// fault.Conflict when that time was over already.
	ExpireFiles(ctx context.Context, task Task, now, lookAt time.Time) error
}

// Remover deletes an object; one that is not there is no error.
type Remover interface {
	Delete(ctx context.Context, key string) error
}

// Deleter deletes the files of one export at once, before their time (docs/reference/deviations.md, "Exports").
type Deleter struct {
	Tasks Deletions
	Files Remover
	Now   func() time.Time
}

// Delete ends the time of a task's files, so that nobody can download them and no request for an export gets this one
// again, and then deletes all that its runs have left in the bucket. It returns the task. Repeating it changes nothing
// more; what a crash leaves is the sweeper's, which looks again when no run can be writing any more. A task that has
// failed has no time to end, and the sweeper is about to look at it anyway.
//
// Errors: Missing; fault.Invalid while the export is running, which has no files yet, but soon would.
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

// expire ends the time of files that can still be downloaded.
func (d Deleter) expire(ctx context.Context, task Task) error {
	now, lookAt := d.Now(), task.FinishedAt.Add(objectGrace)
	if task.Status != Success || !now.Before(task.FilesUntil) {
		return nil
	}
	if lookAt.Before(now) {
		lookAt = now
	}
	err := d.Tasks.ExpireFiles(ctx, task, now, lookAt)
	if err != nil && !errors.Is(err, fault.Conflict) { // a conflict: another request has just done it
		return fmt.Errorf("end the files' time: %w", err)
	}
	return nil
}
