package export_test

import (
	"slices"
	"testing"

	"recordbridge/shared/export"
	"recordbridge/shared/words/org"
)

func TestObjectsListsEachTaskObjectOnce(t *testing.T) {
	t.Parallel()
	task := export.Task{ID: taskID, Tenant: org.Tenant{Mode: org.Live, OrgID: "o"}, Generation: 1}
	prefix := "live/o/" + taskID + "/"
	want := []string{
		prefix + "checkpoint-1.json", prefix + "export-1.jsonl", prefix + "manifest-1.json",
		prefix + "segment-1.ndjson",
	}
	if got := task.Objects(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	task.Files, task.Manifest.Key = []export.File{{Key: want[3]}}, want[2]
	if got := task.Objects(); !slices.Equal(got, want) {
		t.Errorf("with its file among them: %v", got)
	}
	if got := (export.Task{}).Objects(); len(got) != 0 {
		t.Errorf("a task that nobody has begun has %v", got)
	}
}
