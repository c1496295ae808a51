package worker_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

// downFor makes the server return 503 to every request for the given duration, starting after a delay.
func (h *fakeFHIR) downFor(after, length time.Duration) {
	from := time.Now().Add(after)
	h.down = func() bool { return !time.Now().Before(from) && time.Now().Before(from.Add(length)) }
}

func TestExportIsCompleteAfterTemporaryOutage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, length time.Duration
		longest       time.Duration // maximum duration of the export
	}{
		"a minute":            {time.Second, time.Minute, 7 * time.Minute},
		"ten minutes":         {3 * time.Second, 10 * time.Minute, 25 * time.Minute},
		"an hour":             {3 * time.Second, time.Hour, 85 * time.Minute},
		"from the references": {7 * time.Second, 20 * time.Minute, 40 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.latency = time.Second
				b.server.downFor(c.after, c.length)
				started := time.Now()
				b.finish(t)
				got, want := names(t, b.file(t)), wholeRecord()
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				for _, o := range asked(b.task()) {
					if o.Type != "Binary" && o.Type != "Practitioner" && o.Result != export.OutcomeOK &&
						o.Result != export.OutcomeEmpty {
						t.Errorf("outcome %+v", o)
					}
				}
				if took := time.Since(started); took > c.longest {
					t.Errorf("it took %v, want at most %v", took, c.longest)
				}
			})
		})
	}
}

func TestLongOutageResultsInPartialRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.server.downFor(3500*time.Millisecond, 100*time.Hour)
		started := time.Now()
		b.finish(t)
		if took := time.Since(started); took > 2*time.Hour {
			t.Errorf("it took %v", took)
		}
		if got := names(t, b.file(t)); !slices.Contains(got, "Condition/c1") || slices.Contains(got, "Organization/g1") {
			t.Errorf("file %v", got)
		}
		want := export.TypeOutcome{
			Type: "Practitioner", Result: export.OutcomeFailed, Missing: 2, Status: 503,
			Reason: export.LossUnavailable,
		}
		if got := outcomeOf(t, b.task(), "Practitioner"); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		// Each of the eight rounds sends a few requests, each with five attempts. Without the pauses, there would be
		// hundreds of requests.
		if got := len(b.server.asked); got > 250 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestExportContinuesWithoutCapabilityStatementAfterRepeatedFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script("metadata", answer{status: 503, always: true})
		b.finish(t)
		if diff := cmp.Diff(wholeRecord()[:7], names(t, b.file(t))[:7]); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestExportDeliversPartialRecordNearDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) { task.CreatedAt = time.Now().Add(-5*time.Hour - time.Second) })
		b.server.script(findObservations, answer{status: 503, always: true})
		b.work(t, 0)
		if got := outcomeOf(t, b.task(), "Observation"); got.Result != export.OutcomeFailed || got.Status != 503 {
			t.Errorf("got %+v", got)
		}
		b.file(t)
	})
}

func TestRunContinuesFromSavedCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		whole := newBench(t)
		whole.work(t, 0)
		b := newBench(t)
		b.server.latency = 50 * time.Second
		b.work(t, 0) // no deadline, so the run never hands over
		if b.task().Generation < 2 || len(b.enqueued.tasks) > 0 {
			t.Errorf("generation %d, enqueued %v", b.task().Generation, b.enqueued.tasks)
		}
		if diff := cmp.Diff(string(whole.file(t)), string(b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if got, want := b.task().Files[0].SHA256, whole.task().Files[0].SHA256; got != want {
			t.Errorf("SHA-256 %s, want %s", got, want)
		}
	})
}

func TestCrashLosesOnlyWorkSinceLastCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 90 * time.Second
		b.store.crashAfter = 1 // the store fails after one save
		if err := b.worker.Work(t.Context(), tenant, taskID, time.Time{}); err == nil {
			t.Fatal("a store that fails was no failure")
		}
		asked := len(b.server.asked)
		b.store.crashAfter = 0
		<-time.After(lease + time.Second)
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if b.server.times(findConditions) != 1 {
			t.Errorf("%d requests before the crash; then the search of the first run was made again", asked)
		}
	})
}
