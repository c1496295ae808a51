package worker_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

func TestRunSavesCheckpointBeforeDeadlineWhenServerIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 10 * time.Minute
		began := time.Now()
		b.work(t, 2*time.Minute)
		if took, want := time.Since(began), 2*time.Minute-margin+45*time.Second; took != want {
			t.Errorf("the run took %v, want %v", took, want)
		}
		if got := b.task(); got.Status != export.Pending || got.Checkpoint == "" || got.Failures != 0 ||
			len(b.enqueued.tasks) != 1 {
			t.Errorf("enqueued %v, task %+v", b.enqueued.tasks, got)
		}
	})
}

func TestRetryAfterAppliesToAllRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.server.pages["Condition"] = []string{"c1", "c2", "c3"} // enough pages to leave requests for the pause
		b.server.script(findObservations, answer{status: 429, retryAfter: 20})
		var answered []time.Time // times at which the responses were sent, in the order of b.server.asked
		b.server.down = func() bool {
			answered = append(answered, time.Now())
			return false
		}
		b.work(t, 0)
		limited := answered[slices.Index(b.server.asked, findObservations)]
		for i, at := range answered {
			// requests already in flight complete within one second
			if wait := at.Sub(limited); wait > time.Second && wait < 21*time.Second {
				t.Errorf("%s was answered %v after the server had asked for 20 seconds", b.server.asked[i], wait)
			}
		}
		if got := b.server.times(findObservations); got != 2 {
			t.Errorf("asked %d times", got)
		}
	})
}
