package worker_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

// margin is the time before its deadline at which a run hands over to the next run.
const margin = 75 * time.Second

func contextUntil(t *testing.T, after time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), after)
}

// uninterrupted runs an export without a handover, and returns its file, its task and the number of its requests.
func uninterrupted(t *testing.T) (file []byte, task export.Task, requests int) {
	t.Helper()
	b := newBench(t)
	b.work(t, 0)
	return b.file(t), b.task(), len(b.server.asked)
}

func TestHandoverAtAnyPointPreservesFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, requests := uninterrupted(t)
		for point := range requests + 1 {
			b := newBench(t)
			b.server.latency = time.Second
			b.work(t, margin+time.Duration(point)*time.Second-time.Millisecond) // time for point requests in sequence
			if ended := b.task().Status == export.Success; ended && point == 0 || !ended && point == requests {
				t.Errorf("after %d seconds: status %s", point, b.task().Status)
			}
			b.finish(t)
			wantSameExport(t, b, file, whole)
		}
	})
}

func TestHandoverAfterEveryStepPreservesFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, requests := uninterrupted(t)
		for _, step := range []int{1, 2, 3, 5} {
			b := newBench(t)
			b.server.latency = time.Second
			runs := 0
			for ; b.task().Status == export.Pending; runs++ {
				b.work(t, margin+time.Duration(step)*time.Second-time.Millisecond)
			}
			wantSameExport(t, b, file, whole)
			if least := requests / (4*step + 4); runs < least {
				t.Errorf("steps of %d: %d runs, want at least %d", step, runs, least)
			}
			if got := b.server.times("Patient/p1"); got != 1 {
				t.Errorf("steps of %d: the patient was read %d times", step, got)
			}
		}
	})
}

func TestReplacedObjectsAreDeletedWhenHeartbeatCancelsFinishedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.work(t, margin+3*time.Second-time.Millisecond)
		if b.task().Checkpoint == "" {
			t.Fatal("the first run left no checkpoint")
		}
		b.store.answer = time.Minute
		b.finish(t)
		if diff := cmp.Diff(b.kept(), b.files.Keys()); diff != "" {
			t.Errorf("objects left (-want +got):\n%s", diff)
		}
	})
}

func wantSameExport(t *testing.T, b *bench, file []byte, whole export.Task) {
	t.Helper()
	if got := b.file(t); !bytes.Equal(got, file) {
		t.Errorf("file (-want +got):\n%s", cmp.Diff(string(file), string(got)))
	}
	if diff := cmp.Diff(whole.Stats, b.task().Stats); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(whole.Outcome, b.task().Outcome); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if got, want := b.task().Files[0].Bytes, int64(len(file)); got != want {
		t.Errorf("the task tells %d bytes, want %d", got, want)
	}
	if diff := cmp.Diff(b.kept(), b.files.Keys()); diff != "" {
		t.Errorf("objects left (-want +got):\n%s", diff)
	}
	if len(b.results()) != 1 {
		t.Errorf("%d events, want 1", len(b.results()))
	}
}

func TestTaskWaitsInQueueDuringLongRetryAfter(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"the patient": readPatient, "the statement": "metadata", "a first page": findObservations,
		"a later page": observations2, "a reference": "Binary/b1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				file, whole, _ := uninterrupted(t)
				b := newBench(t)
				b.server.script(request, answer{status: 503, retryAfter: 120})
				started := time.Now()
				b.work(t, 0)
				if b.task().Status != export.Pending || time.Since(started) != 0 {
					t.Fatalf("status %s after %v, want pending at once", b.task().Status, time.Since(started))
				}
				if diff := cmp.Diff([]time.Duration{2*time.Minute + afterWait}, b.enqueued.tasks); diff != "" {
					t.Errorf("enqueued (-want +got):\n%s", diff)
				}
				if got, want := time.Until(b.store.SweepTime(tenant, taskID)), 2*time.Minute+lease; got != want {
					t.Errorf("the sweeper looks after %v, want %v", got, want)
				}
				b.finish(t)
				wantSameExport(t, b, file, whole)
			})
		})
	}
}

func TestWorkerSkipsTypeAfterThreeRoundsOfRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script(findObservations, answer{status: 429, retryAfter: 120, always: true})
		runs := b.finish(t)
		// Each of the three rounds has five counted attempts and at most one uncounted attempt to read ahead. A
		// read-ahead attempt may be refused before or after the query is the next to be written. Each refusal ends one
		// run.
		tries := b.server.times(findObservations)
		if tries < 15 || tries > 18 {
			t.Errorf("%d tries, want 15 to 18", tries)
		}
		if runs != tries+1 {
			t.Errorf("%d runs of %d tries, want one more", runs, tries)
		}
		want := export.TypeOutcome{
			Type: "Observation", Result: export.OutcomeFailed, Status: 429,
			Reason: export.LossUnavailable,
		}
		if got := outcomeOf(t, b.task(), "Observation"); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if diff := cmp.Diff(without(wholeRecord(), "Observation"), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestTaskWaitsInQueueWhenRetryAfterExceedsRunTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.server.script(findObservations, answer{status: 503, retryAfter: 20})
		b.work(t, margin+10*time.Second)
		if diff := cmp.Diff([]time.Duration{20*time.Second + afterWait}, b.enqueued.tasks); diff != "" {
			t.Errorf("enqueued (-want +got):\n%s", diff)
		}
		b.finish(t)
		wantSameExport(t, b, file, whole)
	})
}

func TestSearchRestartsWhenServerDiscardsPagesBetweenRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.server.script(observations2, answer{status: 503, retryAfter: 60}, answer{status: 410})
		b.finish(t)
		wantSameExport(t, b, file, whole)
		// The first run prefetches page 2. If page 2 is refused before page 1 is written, the second run also reads
		// page 1.
		if got := b.server.times(findObservations); got != 2 && got != 3 {
			t.Errorf("searched %d times, want 2 or 3", got)
		}
	})
}

func TestRunStopsWithoutWritingAfterTakeover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 15 * time.Second
		started := time.Now()
		go func() {
			<-time.After(50 * time.Second)
			b.change(func(task *export.Task) { task.Generation++ })
		}()
		b.work(t, 0)
		if got := b.store.extends; got != 2 {
			t.Errorf("the lease was extended %d times before, want 2", got)
		}
		// The heartbeat at 60 s detects that another worker has claimed the task, and cancels the run's requests in
		// flight.
		if got := time.Since(started); got != time.Minute {
			t.Errorf("the run ended after %v, want a minute", got)
		}
		if b.task().Status != export.Pending || len(b.files.Keys())+len(b.enqueued.tasks)+len(b.results()) != 0 {
			t.Errorf("status %s, objects %v, enqueued %v", b.task().Status, b.files.Keys(), b.enqueued.tasks)
		}
	})
}

func TestTakeoverDuringRefreshDoesNotFailTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.hang = true
		go func() {
			<-time.After(10 * time.Second)
			b.change(func(task *export.Task) { task.Generation++ })
		}()
		b.work(t, 0)
		if b.task().Failures != 0 || len(b.enqueued.tasks)+len(b.results()) != 0 {
			t.Errorf("%d failures, enqueued %v, %d events", b.task().Failures, b.enqueued.tasks, len(b.results()))
		}
	})
}

func TestResultIsStoredWhenRunTimeEndsDuringWrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runFor time.Duration
		last   string // last object that the run writes
		want   export.Status
	}{
		"the result":     {0, "manifest-1.json", export.Success},
		"the checkpoint": {margin + 5*time.Second, "checkpoint-1.json", export.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.latency = time.Second
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				b.files.closed = func(key string) {
					if strings.HasSuffix(key, c.last) {
						cancel()
					}
				}
				var deadline time.Time
				if c.runFor > 0 {
					deadline = time.Now().Add(c.runFor)
				}
				if err := b.worker.Work(ctx, tenant, taskID, deadline); err != nil {
					t.Fatal(err)
				}
				if ctx.Err() == nil || b.task().Status != c.want || !b.task().LeaseUntil.IsZero() {
					t.Errorf("context %v, task %+v", ctx.Err(), b.task())
				}
			})
		})
	}
}

func TestStaleWorkerPreservesNewWorkerSegments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.server.script(observations2, answer{status: 503, retryAfter: 60})
		b.work(t, 0) // creates a checkpoint and a segment
		before := b.files.Keys()
		b.store.finish = func() error {
			b.change(func(task *export.Task) { task.Generation++ }) // another worker claims the task at the last moment
			return fault.Stale()
		}
		b.work(t, 0)
		for _, key := range before {
			if _, ok := b.files.Get(key); !ok {
				t.Errorf("the late worker deleted %s", key)
			}
		}
		b.store.finish = nil
		<-time.After(lease + time.Second)
		b.finish(t)
		if got := b.file(t); !bytes.Equal(got, file) || b.task().Stats.TotalResources != whole.Stats.TotalResources {
			t.Errorf("the other worker's file differs:\n%s", cmp.Diff(string(file), string(got)))
		}
	})
}

func TestLeaseIsRenewedDuringRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = 10 * time.Second
		started := time.Now()
		b.work(t, 0)
		if got, want := b.store.extends, int(time.Since(started)/(20*time.Second)); got < want-1 || got > want {
			t.Errorf("extended %d times, want about %d", got, want)
		}
	})
}

func TestWorkIgnoresMessageForLeasedOrFinishedTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) { task.LeaseUntil = time.Now().Add(time.Second) })
		b.work(t, 0)
		if len(b.server.asked) != 0 || b.task().Generation != 0 {
			t.Errorf("%v asked for a task that is somebody's", b.server.asked)
		}
		<-time.After(2 * time.Second)
		b.work(t, 0)
		done := b.task()
		b.work(t, 0)
		if diff := cmp.Diff(done, b.task()); diff != "" || len(b.results()) != 1 {
			t.Errorf("%d events, task (-before +after):\n%s", len(b.results()), diff)
		}
	})
}

func TestCheckpointOmitsResourceContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.add(t, `{"resourceType":"Condition","id":"c1","code":{"text":"a secret of the patient"}}`)
		b.server.script(findObservations, answer{status: 503, retryAfter: 60})
		b.work(t, 0)
		if body := string(b.object(t, b.task().Checkpoint)); body == "" || strings.Contains(body, "secret") ||
			strings.Contains(body, "first") {
			t.Errorf("checkpoint %q", body)
		}
	})
}

func TestUnreadableReferenceIsRequestedAtMostFourTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.server.script("Practitioner/d1", answer{status: 404, always: true})
		for b.task().Status == export.Pending {
			b.work(t, margin+time.Second-time.Millisecond)
		}
		if got := b.server.times("Practitioner/d1"); got > 4 { // some runs also prefetch the resource
			t.Errorf("asked %d times, want at most 4", got)
		}
		if diff := cmp.Diff(without(wholeRecord(), "Practitioner/d1"), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}
