package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
)

const otherTaskID = "fedcba9876543210fedcba9876543210"

// newCrowdedBench returns a bench whose tenant has a single slot, which another export holds for the given time.
func newCrowdedBench(t *testing.T, long time.Duration) *bench {
	t.Helper()
	b := newBench(t)
	b.worker.Share = share.New(b.store, b.enqueued, 1, lease, time.Now)
	b.take(t, otherTaskID, long)
	return b
}

func (b *bench) take(t *testing.T, id string, long time.Duration) {
	t.Helper()
	row, err := b.store.Share(t.Context(), tenant)
	if err == nil {
		err = b.store.TakePlace(t.Context(), tenant, row, 0, share.Holder{TaskID: id, Until: time.Now().Add(long)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// holder returns the ID of the task that holds the tenant's only slot, or "" if the slot is free.
func (b *bench) holder(t *testing.T) string {
	t.Helper()
	row, err := b.store.Share(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	if !row.Places[0].Until.After(time.Now()) {
		return ""
	}
	return row.Places[0].TaskID
}

func TestQueuedExportDoesNotConsumeItsTimeBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newCrowdedBench(t, 3*export.Budget)
		for range 3 { // deliver the message three times
			b.work(t, 0)
			<-time.After(export.Budget)
		}
		if got := b.task(); len(b.server.asked) != 0 || len(b.enqueued.tasks) != 0 || got.Failures != 0 ||
			got.Generation != 1 {
			t.Fatalf("asked %v, enqueued %v, task %+v", b.server.asked, b.enqueued.tasks, got)
		}
		if err := b.worker.Admit(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		if len(b.enqueued.tasks) != 1 || b.task().Waited != 3*export.Budget {
			t.Errorf("enqueued %v, waited %v", b.enqueued.tasks, b.task().Waited)
		}
		b.work(t, 0)
		wantSameExport(t, b, file, whole)
		if holder := b.holder(t); holder != "" {
			t.Errorf("%s has the place after the export", holder)
		}
	})
}

func TestTimeInQueueDoesNotShortenRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.change(func(task *export.Task) {
			task.CreatedAt, task.Waited = task.CreatedAt.Add(-3*export.Budget), 3*export.Budget
		})
		b.server.script(findObservations, answer{status: 429, retryAfter: int(time.Hour.Seconds())})
		b.work(t, 0)
		if got := b.task(); got.Status != export.Pending || !got.Deferred {
			t.Fatalf("the task is %s, deferred: %t; want one that waits an hour", got.Status, got.Deferred)
		}
		b.finish(t)
		wantSameExport(t, b, file, whole)
	})
}

func TestFinishedExportPassesSlotToNextInQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			first answer
			want  export.Status
		}{
			"a success":             {answer{}, export.Success},
			"a failure":             {answer{status: 403}, export.Failed},
			"a wait for the server": {answer{status: 503, retryAfter: 120}, export.Pending},
		} {
			b := newBench(t)
			b.worker.Share = share.New(b.store, b.enqueued, 1, lease, time.Now)
			if c.first.status != 0 {
				b.server.script(readPatient, c.first)
			}
			b.server.latency = time.Second
			go func() {
				<-time.After(time.Second / 2)
				b.store.Put(export.Task{ID: otherTaskID, Tenant: tenant, Status: export.Pending, CreatedAt: time.Now()})
				if err := b.worker.Work(t.Context(), tenant, otherTaskID, time.Time{}); err != nil {
					t.Error(err)
				}
			}()
			b.work(t, 0)
			if got := b.task().Status; got != c.want || b.holder(t) != otherTaskID || b.enqueued.tasks[0] != 0 {
				t.Errorf("%s: status %s, the place is %q's, enqueued %v", name, got, b.holder(t), b.enqueued.tasks)
			}
		}
	})
}

func TestResumedExportKeepsItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.worker.Share = share.New(b.store, b.enqueued, 1, lease, time.Now)
		b.server.latency = time.Second
		for b.task().Status == export.Pending {
			b.work(t, margin+3*time.Second-time.Millisecond)
			if holder := b.holder(t); b.task().Status == export.Pending && holder != taskID {
				t.Fatalf("between two runs the place is %q's", holder)
			}
		}
		if holder := b.holder(t); holder != "" {
			t.Errorf("after the last run the place is %q's", holder)
		}
	})
}

func TestRunStopsWhenSlotIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.worker.Share = share.New(b.store, b.enqueued, 1, lease, time.Now)
		b.server.latency = 15 * time.Second
		started := time.Now()
		go func() {
			<-time.After(50 * time.Second)
			b.take(t, otherTaskID, time.Hour)
		}()
		b.work(t, 0)
		if got := time.Since(started); got != time.Minute { // the heartbeat at 60 s detects the lost slot
			t.Errorf("the run ended after %v, want a minute", got)
		}
		if got := b.task(); got.Status != export.Pending || got.Failures != 0 || b.holder(t) != otherTaskID {
			t.Errorf("the place is %q's, task %+v", b.holder(t), got)
		}
	})
}
