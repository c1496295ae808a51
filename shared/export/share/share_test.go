package share_test

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
)

func TestShareRunsQueuedExportsInRequestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many, size = 200, 20
		w := newWorld(size, 2*time.Minute)
		writes := w.countWrites()
		started := time.Now()
		w.ask(t.Context(), 0, size)
		synctest.Wait()
		w.ask(t.Context(), size, many)
		w.sweep(t.Context(), 24*time.Hour)
		w.workers.Wait()
		if w.most != size {
			t.Errorf("%d ran at once, want %d", w.most, size)
		}
		if took := time.Since(started); took > many/size*w.takes+time.Minute {
			t.Errorf("all of them took %v: places were left empty", took)
		}
		for number, task := range w.tasks.All(tenant) {
			if want := time.Duration(number/size) * w.takes; task.Waited != want || task.Failures != 0 {
				t.Errorf("export %d has waited %v, want %v, and has failed %d times", number, task.Waited, want, task.Failures)
			}
		}
		// Each task costs five writes: one to join the line, two to be called, one to enter a slot and one to leave it.
		// In addition, each slot is renewed every 20 seconds, and the line is announced every ten minutes.
		if most := many*(5+int(w.takes/(20*time.Second))) + 20; *writes > most {
			t.Errorf("%d writes for %d exports, want at most %d", *writes, many, most)
		}
		w.checkNothingIsLeft(t)
	})
}

// TestSharePreservesSlotsAfterCrashes checks that worker crashes do not leak slots. Workers crash during random calls,
// before or after the call takes effect. Some exports also yield to a later run, with or without a pause.
func TestSharePreservesSlotsAfterCrashes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(3, 50*time.Second)
				w.next = accidents(rand.New(rand.NewPCG(seed, 1)))
				w.ask(t.Context(), 0, 40)
				w.sweep(t.Context(), 48*time.Hour)
				if w.most > w.size {
					t.Errorf("%d ran at once, want at most %d", w.most, w.size)
				}
				w.checkNothingIsLeft(t)
			})
		})
	}
}

func TestShareReassignsSlotWhenWorkerLeaseExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		first := w.claim(t, 0)
		place, isIn, err := w.share(&life{}).Enter(t.Context(), first)
		if err != nil || !isIn {
			t.Fatalf("%v, %v", isIn, err)
		}
		<-time.After(lease) // the worker does not renew its lease
		second, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 1))
		if err != nil || !isIn || second.Number != place.Number {
			t.Errorf("place %+v, %v, %v; want that of the first", second, isIn, err)
		}
		if err := w.share(&life{}).Keep(t.Context(), place); err == nil {
			t.Error("the dead worker keeps the place")
		}
		w.share(&life{}).Leave(t.Context(), place)
		if row, _ := w.tasks.Share(t.Context(), tenant); row.Places[place.Number].TaskID != second.TaskID {
			t.Errorf("the dead worker has given the place away: %+v", row)
		}
	})
}

func TestEnterReturnsSameSlotForResumedExport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		task := w.claim(t, 0)
		before, _, err := w.share(&life{}).Enter(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if _, isIn, _ := w.share(&life{}).Enter(t.Context(), w.claim(t, 1)); isIn {
			t.Error("another export has the place meanwhile")
		}
		after, isIn, err := w.share(&life{}).Enter(t.Context(), task)
		if err != nil || !isIn || after.Number != before.Number {
			t.Errorf("place %+v, %v, %v; want %+v", after, isIn, err, before)
		}
	})
}

func TestShareAddsUpWaitingTimesOfResumedExport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		enter := func(number int) share.Place {
			task, err := w.tasks.ClaimTask(t.Context(), tenant, taskNumber(number), time.Now(), time.Now().Add(lease))
			if err != nil {
				t.Fatal(err)
			}
			place, _, err := w.share(&life{}).Enter(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			return place
		}
		for number := range 2 {
			w.tasks.Put(pendingTask(number))
		}
		for range 2 { // export 1 waits 10 seconds for export 0, runs, and yields
			first := enter(0)
			enter(1)
			<-time.After(10 * time.Second)
			w.share(&life{}).Leave(t.Context(), first)
			second := enter(1)
			<-time.After(lease + time.Second)
			w.share(&life{}).Leave(t.Context(), second)
		}
		task, err := w.tasks.Task(t.Context(), tenant, taskNumber(1))
		if err != nil || task.Waited != 20*time.Second {
			t.Errorf("export 1 has waited %v (%v), want 20s", task.Waited, err)
		}
	})
}

func TestEnterAnnouncesLongLineAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		announced := 0
		w.tasks.Around = func(call string, effect func() error) error {
			if call == "AnnounceLine" {
				announced++
			}
			return effect()
		}
		first, _, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		for number := 1; number < 4; number++ { // two exports join at once, and one joins 11 minutes later
			if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, number)); isIn || err != nil {
				t.Fatalf("export %d: %v, %v", number, isIn, err)
			}
			for range 66 * (number / 2) {
				<-time.After(lease / 3)
				if err := w.share(&life{}).Keep(t.Context(), first); err != nil {
					t.Fatal(err)
				}
			}
		}
		if announced != 2 {
			t.Errorf("the line was announced %d times, want 2", announced)
		}
	})
}

func TestEnterDoesNotSkipQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		first, _, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 3; i++ {
			if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, i)); isIn || err != nil {
				t.Fatalf("export %d: %v, %v", i, isIn, err)
			}
		}
		if _, err := w.tasks.LeavePlace(t.Context(), first); err != nil { // worker crashes before calling the next task
			t.Fatal(err)
		}
		if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 3)); isIn || err != nil {
			t.Errorf("the last is in before those that wait: %v", err)
		}
		if row, _ := w.tasks.Share(t.Context(), tenant); row.Places[0].TaskID != taskNumber(1) {
			t.Errorf("the place is %+v, want the first in line", row.Places[0])
		}
	})
}

func TestAdmitSkipsTaskThatEndedWhileQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, time.Minute)
		w.ask(t.Context(), 0, 1)
		synctest.Wait() // wait for the first task to enter its slot
		w.ask(t.Context(), 1, 3)
		<-time.After(time.Second)
		// The connection was abandoned while its task was waiting in line.
		w.tasks.Change(tenant, taskNumber(1), func(task *export.Task) { task.Status = export.Failed })
		w.sweep(t.Context(), time.Hour)
		if got := len(w.began); got != 2 {
			t.Errorf("%d exports began, want 2", got)
		}
		w.checkNothingIsLeft(t)
	})
}

func TestAdmitCallsNextTaskWhenCalledTaskEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		first, _, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 3; i++ {
			if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, i)); isIn || err != nil {
				t.Fatalf("export %d: %v, %v", i, isIn, err)
			}
		}
		w.tasks.Around = func(call string, effect func() error) error {
			if call == "CallTask" {
				w.tasks.Change(tenant, taskNumber(1), func(task *export.Task) { task.Status = export.Failed })
			}
			return effect()
		}
		w.share(&life{}).Leave(t.Context(), first)
		if row, _ := w.tasks.Share(t.Context(), tenant); row.Places[0].TaskID != taskNumber(2) {
			t.Errorf("the place is %+v, want the second in line", row.Places[0])
		}
	})
}

// TestTaskCalledTwiceHoldsOneSlot checks that a task holds one slot in the end if two workers call it to different
// slots. The second worker frees the slot that it assigned unless the task already occupies that slot.
func TestTaskCalledTwiceHoldsOneSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(2, 0)
		var in [2]share.Place
		for i := range in {
			in[i], _, _ = w.share(&life{}).Enter(t.Context(), w.claim(t, i))
		}
		if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 2)); isIn || err != nil {
			t.Fatalf("%v, %v", isIn, err)
		}
		var entered share.Place
		var isCalled atomic.Bool
		w.tasks.Around = func(call string, effect func() error) error {
			if call != "CallTask" || !isCalled.CompareAndSwap(false, true) {
				return effect()
			}
			w.share(&life{}).Leave(t.Context(), in[1]) // Leave also calls the waiting task
			task, err := w.tasks.ClaimTask(t.Context(), tenant, taskNumber(2), time.Now(), time.Now().Add(lease))
			if err == nil {
				entered, _, err = w.share(&life{}).Enter(t.Context(), task)
			}
			if err != nil {
				t.Error(err)
			}
			return effect()
		}
		w.share(&life{}).Leave(t.Context(), in[0])
		row, _ := w.tasks.Share(t.Context(), tenant)
		if entered.TaskID == "" || len(row.Places) != 1 || row.Places[entered.Number].Claim != entered.Claim {
			t.Errorf("the task is in place %+v; the share is %+v", entered, row)
		}
		if err := w.share(&life{}).Keep(t.Context(), entered); err != nil {
			t.Errorf("the task has lost its place: %v", err)
		}
	})
}

func TestLeaveKeepsSlotClaimedByAnotherWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 0)
		late, _, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(lease + time.Second)
		task, err := w.tasks.ClaimTask(t.Context(), tenant, taskNumber(0), time.Now(), time.Now().Add(lease))
		if err != nil {
			t.Fatal(err)
		}
		next, isIn, err := w.share(&life{}).Enter(t.Context(), task)
		if err != nil || !isIn {
			t.Fatalf("%v, %v", isIn, err)
		}
		w.share(&life{}).Leave(t.Context(), late)
		if w.share(&life{}).Keep(t.Context(), late) == nil || w.share(&life{}).Keep(t.Context(), next) != nil {
			t.Error("the place is the late worker's, though another has the task")
		}
	})
}

func TestEnterJoinsQueueWhenEveryAttemptConflicts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(2, 0)
		task := w.claim(t, 0)
		w.tasks.Around = lost("TakePlace")
		if _, isIn, err := w.share(&life{}).Enter(t.Context(), task); isIn || err != nil {
			t.Errorf("in without a place: %v, %v", isIn, err)
		}
		if w.tasks.Get(tenant, task.ID).WaitingSince.IsZero() {
			t.Error("the task is not in line")
		}
	})
}

func TestShareHasAtLeastOneSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(0, 0)
		if _, isIn, err := w.share(&life{}).Enter(t.Context(), w.claim(t, 0)); !isIn || err != nil {
			t.Errorf("%v, %v", isIn, err)
		}
	})
}

// claim creates a pending task and claims it for a worker.
func (w *world) claim(t *testing.T, number int) export.Task {
	t.Helper()
	w.tasks.Put(pendingTask(number))
	task, err := w.tasks.ClaimTask(t.Context(), tenant, taskNumber(number), time.Now(), time.Now().Add(lease))
	if err != nil {
		t.Fatal(err)
	}
	return task
}

var _ share.Rows = dying{}
