package export_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/org"
	"recordbridge/shared/tokens"
)

func TestWhateverTheRunsOfATaskLeaveIsAmongItsObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		left := map[string]bool{}
		for range 3 { // each run hands over at its first wait
			b.hospital.script(findObservations, answer{status: 503, always: true})
			b.work(t, 76*time.Second)
			for _, key := range b.files.keys() {
				left[key] = true
			}
			<-time.After(time.Hour)
		}
		b.desk.current = tokens.ErrRefused
		b.finish(t)
		known := b.store.task.Objects()
		for key := range left {
			if !slices.Contains(known, key) {
				t.Errorf("nobody will delete %s", key)
			}
		}
		if len(left) == 0 || b.store.task.Status != export.Failed || b.store.task.FilesUntil.Sub(b.store.task.FinishedAt) < 15*time.Minute {
			t.Errorf("%d objects were left, %s, deleted %v after it ended", len(left), b.store.task.Status, b.store.task.FilesUntil.Sub(b.store.task.FinishedAt))
		}
	})
}

func TestObjectsAreOneTasksAndEachNamedOnce(t *testing.T) {
	t.Parallel()
	task := export.Task{ID: taskID, Tenant: org.Tenant{Mode: org.Live, OrgID: "o"}, Generation: 1}
	prefix := "live/o/" + taskID + "/"
	want := []string{prefix + "checkpoint-1.json", prefix + "export-1.jsonl", prefix + "segment-1.ndjson"}
	if got := task.Objects(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	task.Files = []export.File{{Key: want[2]}}
	if got := task.Objects(); !slices.Equal(got, want) {
		t.Errorf("with its file among them: %v", got)
	}
	if got := (export.Task{}).Objects(); len(got) != 0 {
		t.Errorf("a task that nobody has begun has %v", got)
	}
}
