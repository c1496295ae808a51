package disconnect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// oldest is the age beyond which a task can no longer have a file. An export is pending for at most a few hours,
	// and the bucket's lifecycle rule deletes every object after 10 days, regardless of the retention parameter.
	oldest = 12 * 24 * time.Hour
	// most is the maximum number of tasks to read, chosen so that a request completes in time. The limit allows for 40
	// exports a day. The files of any earlier exports expire on their own.
	most = 500
)

// exports holds the connection's export tasks that a disconnection ends.
type exports struct {
	latest  string
	pending export.Task   // pending task; ID is empty if there is none
	living  []export.Task // tasks with downloadable files, newest first
}

// end expires the exports' files and records in ending that the pending task has failed.
func (e exports) end(ctx context.Context, rows Reader, ending *Ending, now func() time.Time) error {
	for _, task := range e.living {
		if err := rows.EndFile(ctx, task, now()); err != nil {
			return fmt.Errorf("end file: %w", err)
		}
	}
	ending.LatestTask = e.latest
	if e.pending.ID == "" {
		return nil
	}
	var err error
	// The event's time is the time at which it is stored, because readers of the event list don't look for older
	// events.
	ending.Failed, ending.Event, err = e.pending.Fail(export.TokenRefreshFailure, now())
	return err
}

func (e exports) none() bool { return e.pending.ID == "" && len(e.living) == 0 }

// newestTask returns the ID of the connection's latest task, or "" if the connection has no tasks.
func newestTask(ctx context.Context, rows Reader, tenant org.Tenant, connectionID string) (string, error) {
	latest, err := rows.LatestTask(ctx, tenant, connectionID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return "", fmt.Errorf("find newest task: %w", err)
	}
	return latest, nil
}

// findExports reads the tasks of a connection, newest first. Only the latest task can be pending, because tasks are
// created one after another.
func findExports(ctx context.Context, rows Reader, tenant org.Tenant, connectionID string,
	now time.Time,
) (exports, error) {
	latest, err := newestTask(ctx, rows, tenant, connectionID)
	if err != nil {
		return exports{}, err
	}
	found := exports{latest: latest}
	for next, seen := latest, 0; next != "" && seen < most; seen++ {
		task, err := rows.Task(ctx, tenant, next)
		if errors.Is(err, fault.NotFound) {
			break // Task rows expire after 90 days.
		}
		if err != nil {
			return exports{}, fmt.Errorf("read task: %w", err)
		}
		switch {
		case task.Status == export.Pending:
			found.pending = task
		case task.Status == export.Success && now.Before(task.FilesUntil):
			found.living = append(found.living, task)
		}
		if now.Sub(task.CreatedAt) > oldest {
			break
		}
		next = task.Previous
	}
	return found, nil
}
