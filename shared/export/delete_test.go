package export_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var errStuck = errors.New("nothing can be stored")

// fakeTasks holds a single task and its objects in the bucket. Calls named in failing return an error.
type fakeTasks struct {
	task    export.Task
	objects []string
	failing map[string]error
	done    []string // recorded calls, in order
}

func (c *fakeTasks) Task(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	if tenant != c.task.Tenant || id != c.task.ID {
		return export.Task{}, fault.Missing("no row")
	}
	return c.task, c.failing["Task"]
}

func (c *fakeTasks) ExpireFiles(_ context.Context, task export.Task, now, lookAt time.Time) error {
	if err := c.failing["ExpireFiles"]; err != nil {
		return err
	}
	c.task.FilesUntil = now
	c.done = append(c.done, "expire, look after "+lookAt.Sub(task.FinishedAt).String())
	return nil
}

func (c *fakeTasks) Delete(_ context.Context, key string) error {
	if err := c.failing["Delete "+key]; err != nil {
		return err
	}
	c.objects = slices.DeleteFunc(c.objects, func(k string) bool { return k == key })
	return nil
}

func finishedAt() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// keptTask returns a task that ended during its second run.
func keptTask(status export.Status) export.Task {
	task := export.Task{
		ID: taskID, Tenant: org.Tenant{Mode: org.Test, OrgID: "o"}, Status: status, Generation: 2,
		FinishedAt: finishedAt(), FilesUntil: finishedAt().Add(20 * time.Minute),
	}
	if status == export.Success {
		task.FilesUntil = finishedAt().Add(8 * 24 * time.Hour)
		task.Files = []export.File{{Name: "x.jsonl", Key: "test/o/" + taskID + "/export-2.ndjson"}}
	}
	return task
}

func newCupboard(task export.Task) *fakeTasks {
	return &fakeTasks{
		task: task, objects: append(task.Objects(), "test/o/other/export-1.ndjson"),
		failing: map[string]error{},
	}
}

func (c *fakeTasks) delete(t *testing.T, after time.Duration) (export.Task, error) {
	t.Helper()
	return export.Deleter{Tasks: c, Files: c, Now: func() time.Time { return finishedAt().Add(after) }}.Delete(t.Context(),
		c.task.Tenant, c.task.ID)
}

func TestDeleteExpiresFilesBeforeDeletingObjects(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]struct {
		task  export.Task
		after time.Duration
		done  []string
	}{
		// A run that has lost its task may continue writing for a while. The sweeper waits until the run can no longer
		// write.
		"a success of a minute ago": {keptTask(export.Success), time.Minute, []string{"expire, look after 20m0s"}},
		"a success of an hour ago":  {keptTask(export.Success), time.Hour, []string{"expire, look after 1h0m0s"}},
		"one whose time is over":    {keptTask(export.Success), 8 * 24 * time.Hour, nil},
		"a failure":                 {keptTask(export.Failed), time.Minute, nil}, // the sweeper runs at its scheduled time
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCupboard(e.task)
			for range 2 { // a repeated call has no further effect
				got, err := c.delete(t, e.after)
				if err != nil || got.ID != taskID || got.Status != e.task.Status {
					t.Errorf("got %s, %s (%v), want the task", got.ID, got.Status, err)
				}
				if diff := cmp.Diff(e.done, c.done); diff != "" {
					t.Errorf("done (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"test/o/other/export-1.ndjson"}, c.objects); diff != "" {
					t.Errorf("what is left (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestDeleteRejectsRunningExport(t *testing.T) {
	t.Parallel()
	c := newCupboard(keptTask(export.Pending))
	before := slices.Clone(c.objects)
	_, err := c.delete(t, time.Hour)
	if f := fault.Of(err); f.Kind != fault.Invalid || f.Code != fault.CodeInvalidRequest ||
		f.Public != "The export is still running. Delete its connection, or wait until the export has ended." {
		t.Errorf("got %v, want a refusal that says what to do", err)
	}
	if !slices.Equal(c.objects, before) || len(c.done) != 0 {
		t.Errorf("done: %v; left: %v", c.done, c.objects)
	}
}

func TestDeleteReturnsNotFoundForTaskOfAnotherTenant(t *testing.T) {
	t.Parallel()
	c := newCupboard(keptTask(export.Success))
	before := slices.Clone(c.objects)
	deleter := export.Deleter{Tasks: c, Files: c, Now: finishedAt}
	for name, tenant := range map[string]org.Tenant{
		"another organisation": {Mode: org.Test, OrgID: "p"},
		"the other mode":       {Mode: org.Live, OrgID: "o"},
	} {
		if _, err := deleter.Delete(t.Context(), tenant, taskID); fault.Of(err).Public != fault.Of(export.Missing()).Public ||
			!errors.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want export.Missing", name, err)
		}
	}
	if !slices.Equal(c.objects, before) || len(c.done) != 0 {
		t.Errorf("done: %v; left: %v", c.done, c.objects)
	}
}

func TestDeleteCompletesDeletionStartedByAnotherRequest(t *testing.T) {
	t.Parallel()
	c := newCupboard(keptTask(export.Success))
	c.failing["ExpireFiles"] = fault.Stale()
	if _, err := c.delete(t, time.Hour); err != nil || len(c.objects) != 1 {
		t.Errorf("got %v with %v left", err, c.objects)
	}
}

func TestDeleteCanBeRetriedAfterError(t *testing.T) {
	t.Parallel()
	file := keptTask(export.Success).Files[0].Key
	for call, untouched := range map[string]bool{"Task": true, "ExpireFiles": true, "Delete " + file: false} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			c := newCupboard(keptTask(export.Success))
			c.failing[call] = errStuck
			all := len(c.objects)
			if _, err := c.delete(t, time.Hour); !errors.Is(err, errStuck) {
				t.Errorf("got %v, want the failure", err)
			}
			if !slices.Contains(c.objects, file) || untouched && (len(c.objects) != all || len(c.done) != 0) {
				t.Errorf("done: %v; left: %v", c.done, c.objects)
			}
			clear(c.failing)
			if _, err := c.delete(t, time.Hour); err != nil || len(c.objects) != 1 {
				t.Errorf("repeated: %v with %v left", err, c.objects)
			}
		})
	}
}
