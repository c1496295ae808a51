package worker_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
)

func TestTaskObjectsListsEveryObjectWrittenByRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		left := map[string]bool{}
		for range 3 { // each run hands over to the next run at its first long wait
			b.server.script(findObservations, answer{status: 503, always: true})
			b.work(t, 76*time.Second)
			for _, key := range b.files.Keys() {
				left[key] = true
			}
			<-time.After(time.Hour)
		}
		b.tokens.current = tokens.ErrRefused
		b.finish(t)
		known := b.task().Objects()
		for key := range left {
			if !slices.Contains(known, key) {
				t.Errorf("nobody will delete %s", key)
			}
		}
		if len(left) == 0 || b.task().Status != export.Failed ||
			b.task().FilesUntil.Sub(b.task().FinishedAt) < 15*time.Minute {
			t.Errorf("%d objects were left, %s, deleted %v after it ended", len(left), b.task().Status,
				b.task().FilesUntil.Sub(b.task().FinishedAt))
		}
	})
}
