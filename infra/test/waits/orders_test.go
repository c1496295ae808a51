package waits_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
)

// soon is the maximum time from when an export becomes claimable until it is claimed, even if messages are lost or
// workers crash. The delay covers the export's lease, the two minutes that the sweeper allows for a message, and the
// sweeper's interval. Each of these periods counts twice, because the organisation's slot may be delayed in the same
// way.
const soon = 10 * time.Minute

// event is a named event in an export's life. do triggers the event, or returns false if it is currently impossible.
type event struct {
	name string
	do   func(w *world) bool
}

// events returns all events. An event's number is its index.
func events() []event {
	return []event{
		{"a duplicate message", func(w *world) bool {
			w.deliver(due.Item{Tenant: tenant, Kind: due.Task, ID: taskID})
			return true
		}},
		{"a sweep", func(w *world) bool { w.sweep(); return true }},
		{"the messages are lost", func(w *world) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			had := len(w.queue) > 0
			w.queue = nil
			return had
		}},
		{"20 seconds", func(w *world) bool { w.pass(time.Now().Add(20 * time.Second)); return true }},
		{"until just before it can be claimed", func(w *world) bool { return w.passUntil(-time.Second) }},
		{"until it can be claimed", func(w *world) bool { return w.passUntil(0) }},
		{"until just after that", func(w *world) bool { return w.passUntil(2 * time.Second) }},
		{"a crash", func(w *world) bool {
			l := w.of(taskID)
			if l != nil {
				l.crash()
				synctest.Wait()
			}
			return l != nil
		}},
		{"it has to wait an hour", ending(busy, time.Hour)},
		{"it has to wait five minutes", ending(busy, 5*time.Minute)},
		{"it hands over", ending(busy, 0)},
		{"it fails, and has to wait 20 minutes", ending(limited, 20*time.Minute)},
		{"a late write", func(w *world) bool {
			if w.of(taskID) != nil {
				return false // a running worker's heartbeat has the same effect as a late write
			}
			if err := w.lateWrite(); err != nil {
				w.faultf("late write: %v", err)
			}
			return true
		}},
		{"another takes or leaves the place", func(w *world) bool {
			if l := w.of(besideID); l != nil {
				w.end(l, tokens.ErrRefused, 0)
				return true
			}
			if w.task(besideID).Status != export.Pending {
				return false
			}
			w.deliver(due.Item{Tenant: tenant, Kind: due.Task, ID: besideID})
			return true
		}},
		{"it ends", ending(func(time.Duration) error { return tokens.ErrRefused }, 0)},
	}
}

// busy returns an error that makes a run yield for wait. limited returns an error that makes a run fail and be retried
// after wait.
func busy(wait time.Duration) error { return &refresh.BusyError{RetryAt: time.Now().Add(wait)} }

func limited(wait time.Duration) error {
	return fault.New(fault.Limited, fault.CodeRateLimited, "busy").After(wait)
}

// ending returns an event that ends the export's run with the error that how(wait) returns.
func ending(how func(wait time.Duration) error, wait time.Duration) func(w *world) bool {
	return func(w *world) bool {
		l := w.of(taskID)
		if l == nil {
			return false
		}
		w.end(l, how(wait), wait)
		return true
	}
}

// passUntil advances the time to offset after the first export becomes claimable, or returns false if that time has
// passed.
func (w *world) passUntil(offset time.Duration) bool {
	until := w.task(taskID).LeaseUntil.Add(offset)
	if !until.After(time.Now()) {
		return false
	}
	w.pass(until)
	return true
}

// finish ends each run that starts, and checks that every export returned by begun ends within soon.
func (w *world) finish() {
	began := time.Now()
	for _, id := range w.begun() {
		if until := w.postponedTo[id]; until.After(began) {
			began = until
		}
	}
	for time.Now().Before(began.Add(2 * soon)) {
		pending := 0
		for _, id := range w.begun() {
			if w.task(id).Status == export.Pending {
				pending++
			}
			if l := w.of(id); l != nil {
				w.end(l, tokens.ErrRefused, 0)
			}
		}
		if pending == 0 {
			break
		}
		w.pass(w.nextTick(began))
		w.sweep()
	}
	for _, id := range w.begun() {
		if got := w.task(id); got.Status == export.Pending {
			w.faultf("%s is still pending: %+v", id, got)
		} else if late := got.FinishedAt.Sub(began); late > soon {
			w.faultf("%s has ended %v after it could", id, late)
		}
	}
}

// begun returns the first export's ID, plus the second export's ID if a worker has claimed it.
func (w *world) begun() []string {
	if w.task(besideID).Generation > 0 {
		return []string{taskID, besideID}
	}
	return []string{taskID}
}

// nextTick returns the time of the sweeper's next run, skipping runs that are too early to find a claimable export.
func (w *world) nextTick(began time.Time) time.Time {
	now := time.Now()
	beside := w.task(besideID)
	isAlone := w.of(besideID) == nil && (beside.Generation == 0 || beside.Status != export.Pending)
	if early := began.Add(-3 * time.Minute); early.After(now) && w.of(taskID) == nil && isAlone {
		return early
	}
	return now.Add(time.Minute)
}

// play runs a sequence of events, given by index. happened is the number of events before the first impossible one.
func play(t *testing.T, order []int, of rows, shards int) (happened int, faults []string) {
	t.Helper()
	w := newWorld(t, of, shards)
	w.deliver(due.Item{Tenant: tenant, Kind: due.Task, ID: taskID})
	all := events()
	for _, number := range order {
		if !all[number].do(w) {
			break
		}
		happened++
	}
	if happened == len(order) {
		w.finish()
	}
	w.stop()
	return happened, w.faults
}

func (w *world) stop() {
	for _, id := range []string{taskID, besideID} {
		if l := w.of(id); l != nil {
			l.crash()
		}
	}
	w.workers.Wait()
}

func described(order []int) string {
	names, all := make([]string, 0, len(order)), events()
	for _, number := range order {
		names = append(names, all[number].name)
	}
	return strings.Join(names, "; ")
}

// following advances order to the next sequence, skipping sequences that share the prefix found to be impossible. After
// the last sequence, it returns false.
func following(order []int, happened, many int) (ok bool) {
	at := min(happened, len(order)-1)
	for i := at + 1; i < len(order); i++ {
		order[i] = 0
	}
	for ; at >= 0; at-- {
		if order[at]++; order[at] < many {
			return true
		}
		order[at] = 0
	}
	return false
}

// tryAll tries every sequence of the given number of events.
func tryAll(t *testing.T, length, shards int, open func(t *testing.T) rows) {
	t.Helper()
	many := len(events())
	for first := range many {
		t.Run(strings.ReplaceAll(events()[first].name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			order, tried := make([]int, length-1), 0
			for more := true; more; {
				whole := append([]int{first}, order...)
				var happened int
				var faults []string
				synctest.Test(t, func(t *testing.T) { happened, faults = play(t, whole, open(t), shards) })
				if happened == len(whole) {
					tried++
				}
				if len(faults) > 0 {
					t.Fatalf("%s:\n%s", described(whole[:happened]), strings.Join(faults, "\n"))
				}
				more = happened > 0 && following(order, happened-1, many)
			}
			t.Logf("%d orders", tried)
		})
	}
}

func isLongSoak() bool {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	return err == nil && budget >= 10*time.Minute
}

// TestExportIsClaimedOnceAndOnTimeInEveryEventOrder runs every sequence of four events, or of five in a long soak test,
// on an in-memory table that behaves like DynamoDB (infra/testkit/storetest).
func TestExportIsClaimedOnceAndOnTimeInEveryEventOrder(t *testing.T) {
	t.Parallel()
	length := 4
	switch {
	case testing.Short():
		length = 3
	case isLongSoak():
		length = 5
	}
	tryAll(t, length, 1, remembered)
}

// TestDynamoDBExportIsClaimedOnceAndOnTimeInEveryEventOrder runs every sequence of two events, or of three in a long
// soak test, on a table in the embedded DynamoDB.
func TestDynamoDBExportIsClaimedOnceAndOnTimeInEveryEventOrder(t *testing.T) {
	t.Parallel()
	length := 2
	if isLongSoak() {
		length = 3
	}
	tryAll(t, length, store.DueShards, stored)
}
