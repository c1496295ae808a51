package refreshscheduler_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/functions/refreshscheduler"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

type world struct {
	start time.Time
	rows  [][]due.Item // rows that are due, indexed by shard

	mu      sync.Mutex
	before  []time.Duration          // upper limits of the requested due times, relative to start
	claimed map[string]time.Duration // time until each claimed row is due again, keyed by row ID
	sent    map[string]time.Duration
}

func (w *world) Due(_ context.Context, shard int, before time.Time) ([]due.Item, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = append(w.before, before.Sub(w.start))
	return w.rows[shard], nil
}

func (w *world) Postpone(_ context.Context, i due.Item, until time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claimed[i.ID] = until.Sub(w.start)
	return nil
}

func (w *world) Send(_ context.Context, i due.Item, delay time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[i.ID] = delay
	return nil
}

// TestSchedulerSpreadsMessagesOverNextMinute checks that a run claims each due row for ten minutes and spreads the
// messages evenly over the next minute.
func TestSchedulerSpreadsMessagesOverNextMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{
			start: time.Now(), rows: make([][]due.Item, 16), claimed: map[string]time.Duration{},
			sent: map[string]time.Duration{},
		}
		for shard := range w.rows {
			for i := range 200 {
				w.rows[shard] = append(w.rows[shard], due.Item{
					Tenant: org.Tenant{Mode: org.Test, OrgID: "a"}, Kind: due.Connection, ID: fmt.Sprint(shard, " ", i), At: w.start,
				})
			}
		}
		schedule := refreshscheduler.New(due.NewSweep(&w, &w, len(w.rows), time.Now), time.Now)
		if err := schedule(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if len(w.before) != 16 || slices.Max(w.before) != 0 || slices.Min(w.before) != 0 {
			t.Errorf("asked for what is due until %v, want now", w.before)
		}
		seconds := make([]int, 60)
		for id, delay := range w.sent {
			if delay < 0 || delay >= time.Minute || w.claimed[id] != 5*time.Minute {
				t.Fatalf("a delay of %v, claimed for %v", delay, w.claimed[id])
			}
			seconds[delay/time.Second]++
		}
		if low, high := slices.Min(seconds), slices.Max(seconds); len(w.sent) != 3200 || low < 50 || high > 57 {
			t.Errorf("between %d and %d of %d messages a second, want about 53: %v", low, high, len(w.sent), seconds)
		}
	})
}
