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
	// oldest is how long ago a task was opened that can have no file any more, and none before it can: an export is
	// pending for hours at most, and the bucket's lifecycle deletes every object after 10 days, whatever the parameter
	// for keeping files says.
	oldest = 12 * 24 * time.Hour
	// most bounds the walk, so that a request ends in time. It is 40 exports a day; the files of those before end by
	// themselves.
	most = 500
)

// exports are the tasks of a connection that a disconnection ends.
type exports struct {
	latest  string        // id of the newest task, empty for none
	pending export.Task   // without an id when none is
	living  []export.Task // whose files can be downloaded, newest first
}

// end ends the time of the files, and makes the pending task of an ending a failed one.
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
	// The event has the time at which it is stored: a reader of the list of events does not look for older ones.
	ending.Failed, ending.Event, err = e.pending.Fail(export.TokenRefreshFailure, now())
	return err
}

func (e exports) none() bool { return e.pending.ID == "" && len(e.living) == 0 }

// newestTask returns the id of the connection's newest task, empty for none.
func newestTask(ctx context.Context, rows Reader, tenant org.Tenant, connectionID string) (string, error) {
	latest, err := rows.LatestTask(ctx, tenant, connectionID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return "", fmt.Errorf("find newest task: %w", err)
	}
	return latest, nil
}

// findExports walks from the connection's newest task to those before. Only the newest can be pending: the next one
// opens when it is not any more.
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
			break // rows end after 90 days
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
