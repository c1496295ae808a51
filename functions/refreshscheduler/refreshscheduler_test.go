package refreshscheduler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/refreshscheduler"
	"recordbridge/shared/due"
	"recordbridge/shared/fault"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

var errTrouble = errors.New("trouble on our side")

func tenant() org.Tenant {
	return org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
}

// world is the database and the queue. What is named in failing fails.
type world struct {
	start   time.Time
	rows    [][]due.Item     // by shard
	failing map[string]error // by method and shard or id
	takes   time.Duration    // what a message takes to be sent

	mu       sync.Mutex
	asked    []string
	claimed  map[string]time.Duration // until when, by id
	sent     map[string]time.Duration // with which delay, by id
	sending  int
	together int // the most messages that were on their way at once
}

func (w *world) Due(_ context.Context, shard int, before time.Time) ([]due.Item, error) {
	w.asked = append(w.asked, fmt.Sprintf("%d before %v", shard, before.Sub(w.start)))
	return w.rows[shard], w.failing["Due "+strconv.Itoa(shard)]
}

func (w *world) Postpone(_ context.Context, i due.Item, until time.Time) error {
	if err := w.failing["Postpone "+i.ID]; err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claimed[i.ID] = until.Sub(w.start)
	return nil
}

func (w *world) Send(_ context.Context, i due.Item, delay time.Duration) error {
	if err := w.failing["Send "+i.ID]; err != nil {
		return err
	}
	w.mu.Lock()
	if _, ok := w.claimed[i.ID]; !ok || i.Kind != due.Connection || i.Tenant != tenant() {
		w.mu.Unlock()
		return fmt.Errorf("%+v was sent and not claimed", i)
	}
	w.sending++
	w.together = max(w.together, w.sending)
	w.mu.Unlock()
	<-time.After(w.takes)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sending--
	w.sent[i.ID] = delay
	return nil
}

// run lets the scheduler run in a bubble of time and returns its log line.
func (w *world) run(t *testing.T, timeout time.Duration) (map[string]any, error) {
	t.Helper()
	w.start, w.claimed, w.sent = time.Now(), map[string]time.Duration{}, map[string]time.Duration{}
	for _, items := range w.rows {
		for i := range items {
			items[i].At = w.start.Add(items[i].At.Sub(time.Time{}))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var log bytes.Buffer
	schedule := refreshscheduler.New(refreshscheduler.Deps{Rows: w, Queue: w, Shards: len(w.rows), Now: time.Now})
	err := lambdarun.Schedule(lambdarun.Process{Logger: logx.New(&log), Now: time.Now}, "x", schedule)(ctx, lambdarun.Tick{})
	var line map[string]any
	if broken := json.Unmarshal(log.Bytes(), &line); broken != nil {
		t.Fatal(broken)
	}
	return line, err
}

// row is due a while after the start of the run; before it when negative. run adds the start.
func row(id string, after time.Duration) due.Item {
	return due.Item{Tenant: tenant(), Kind: due.Connection, ID: id, At: time.Time{}.Add(after)}
}

// full is a number of shards with as many rows each.
func full(shards, rows int) [][]due.Item {
	all := make([][]due.Item, shards)
	for shard := range all {
		for i := range rows {
			all[shard] = append(all[shard], row(fmt.Sprintf("%d-%d", shard, i), -time.Second))
		}
	}
	return all
}

func wantLine(t *testing.T, line map[string]any, sent int, oldest time.Duration, cutShort bool) {
	t.Helper()
	got := map[string]any{"sent": line["sent"], "oldest_ms": line["oldest_ms"], "cut_short": line["cut_short"]}
	want := map[string]any{"sent": float64(sent), "oldest_ms": float64(oldest.Milliseconds()), "cut_short": cutShort}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}

func TestEveryConnectionThatIsDueIsClaimedAndSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: [][]due.Item{{row("a", -3*time.Hour), row("b", -time.Minute)}, nil, {row("c", 0)}}}
		line, err := w.run(t, 55*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0 before 0s", "1 before 0s", "2 before 0s"}, w.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		later := 10 * time.Minute
		if diff := cmp.Diff(map[string]time.Duration{"a": later, "b": later, "c": later}, w.claimed); diff != "" {
			t.Errorf("claimed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]time.Duration{"a": 0, "b": 30 * time.Second, "c": 40 * time.Second}, w.sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		wantLine(t, line, 3, 3*time.Hour, false)
	})
}

func TestARunWithNothingDueSendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: make([][]due.Item, 16)}
		line, err := w.run(t, 55*time.Second)
		if err != nil || len(w.asked) != 16 {
			t.Errorf("%v after asking for %q", err, w.asked)
		}
		wantLine(t, line, 0, 0, false)
	})
}

// The most that one run finds is sent within its time, and reaches the worker evenly over the next minute.
func TestABurstIsSpreadOverTheComingMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 200), takes: 50 * time.Millisecond}
		line, err := w.run(t, 55*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		wantLine(t, line, 3200, time.Second, false)
		if w.together != 8 {
			t.Errorf("%d messages were sent at once, want 8", w.together)
		}
		seconds := make([]int, 60)
		for _, delay := range w.sent {
			if delay < 0 || delay >= time.Minute {
				t.Fatalf("a delay of %v", delay)
			}
			seconds[delay/time.Second]++
		}
		if low, high := slices.Min(seconds), slices.Max(seconds); low < 50 || high > 57 {
			t.Errorf("between %d and %d messages a second, want about 53: %v", low, high, seconds)
		}
	})
}

func TestARunEndsByItselfBeforeItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 200), takes: time.Second}
		line, err := w.run(t, 55*time.Second)
		if err != nil {
			t.Errorf("got %v, want no failure: what is left is for the next run", err)
		}
		if took := time.Since(w.start); took < 50*time.Second || took > 52*time.Second {
			t.Errorf("it took %v", took)
		}
		if len(w.sent) < 400 || len(w.sent) > 416 || len(w.claimed) != len(w.sent) {
			t.Errorf("%d rows were claimed, %d sent, want about 400", len(w.claimed), len(w.sent))
		}
		if len(w.asked) != 3 {
			t.Errorf("asked for %q, want three shards", w.asked)
		}
		wantLine(t, line, len(w.sent), time.Second, true)
	})
}

func TestARunWithoutTimeClaimsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(2, 2)}
		line, err := w.run(t, 0)
		if err != nil || len(w.claimed) != 0 || len(w.asked) != 0 {
			t.Errorf("%v, claimed %v after asking for %q", err, w.claimed, w.asked)
		}
		wantLine(t, line, 0, 0, true)
	})
}

func TestARowThatAnotherRunHasIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: [][]due.Item{{row("a", 0), row("b", 0)}}, failing: map[string]error{"Postpone a": fault.Stale()}}
		line, err := w.run(t, time.Minute)
		if err != nil {
			t.Errorf("got %v, want no failure", err)
		}
		if _, ok := w.sent["a"]; ok || len(w.sent) != 1 {
			t.Errorf("sent %v, want b alone", w.sent)
		}
		wantLine(t, line, 1, 0, false)
	})
}

func TestOneFailureStopsNoOtherRow(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"Due 1", "Postpone bad", "Send bad"} {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world{
					rows:    [][]due.Item{{row("first", 0), row("bad", 0), row("second", 0)}, nil, {row("third", 0)}},
					failing: map[string]error{failing: errTrouble},
				}
				line, err := w.run(t, time.Minute)
				if !errors.Is(err, errTrouble) || line["failed"] != 1.0 {
					t.Errorf("got %v and %v failed, want the trouble once", err, line["failed"])
				}
				for _, id := range []string{"first", "second", "third"} {
					if _, ok := w.sent[id]; !ok {
						t.Errorf("%s was not sent: %v", id, w.sent)
					}
				}
			})
		})
	}
}

// A queue that is down must not make a log line of thousands of errors.
func TestFailuresAreCountedAndTheFirstAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 20), failing: map[string]error{}}
		for _, items := range w.rows {
			for _, i := range items {
				w.failing["Send "+i.ID] = errTrouble
			}
		}
		line, err := w.run(t, time.Minute)
		if !errors.Is(err, errTrouble) || strings.Count(err.Error(), errTrouble.Error()) != 10 {
			t.Errorf("got %v, want the trouble ten times", err)
		}
		if line["failed"] != 320.0 || line["sent"] != 0.0 {
			t.Errorf("log line %v, want 320 failed", line)
		}
	})
}
