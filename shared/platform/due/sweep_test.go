package due_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

var errTrouble = errors.New("trouble on our side")

// world simulates the database and the queue. Calls in failing return an error.
type world struct {
	told []map[string]any // the last run's log lines about rows
	// measured holds the last run's metrics.
	measured map[string]int
	start    time.Time
	rows     [][]due.Item             // due rows, by shard
	failing  map[string]error         // errors to return by method, with the shard or ID
	takes    map[string]time.Duration // call duration by method

	mu       sync.Mutex
	asked    map[string]int // number of requests, by shard and time
	claimed  map[string]time.Duration
	sent     map[string]due.Position
	busy     map[string]int // calls in progress, by method
	together map[string]int // maximum number of concurrent calls, by method
}

func (w *world) Due(ctx context.Context, shard int, before time.Time) ([]due.Item, error) {
	w.mu.Lock()
	w.asked[fmt.Sprintf("%d before %v", shard, before.Sub(w.start))]++
	w.mu.Unlock()
	return w.rows[shard], w.call(ctx, "Due", strconv.Itoa(shard))
}

func (w *world) Postpone(ctx context.Context, i due.Item, until time.Time) error {
	if err := w.call(ctx, "Postpone", i.ID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claimed[i.ID] = until.Sub(w.start)
	return nil
}

func (w *world) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	w.mu.Lock()
	_, ok := w.claimed[i.ID]
	w.mu.Unlock()
	if !ok || delay != 3*time.Second {
		return fmt.Errorf("%+v was sent after %v, claimed: %t", i, delay, ok)
	}
	return w.call(ctx, "Send", i.ID)
}

// call simulates a call that takes some time.
func (w *world) call(ctx context.Context, method, id string) error {
	w.mu.Lock()
	w.busy[method]++
	w.together[method] = max(w.together[method], w.busy[method])
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy[method]--
	}()
	// Using select with a timer's channel crashes Go 1.26's race detector in about one in ten runs of these tests.
	waiting, cancel := context.WithTimeout(ctx, w.takes[method])
	defer cancel()
	<-waiting.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.failing[method+" "+id]
}

// sweep performs one run in virtual time, with a deadline, and returns its log line. Each claim lasts for an hour.
func (w *world) sweep(t *testing.T, timeout time.Duration) (map[string]any, error) {
	t.Helper()
	w.start, w.asked = time.Now(), map[string]int{}
	w.claimed, w.sent = map[string]time.Duration{}, map[string]due.Position{}
	w.busy, w.together = map[string]int{}, map[string]int{}
	for _, items := range w.rows {
		for i := range items {
			items[i].At = w.start.Add(items[i].At.Sub(time.Time{}))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	ctx, line := logx.Begin(ctx)
	s := due.NewSweep(w, w, len(w.rows), time.Now)
	err := s.Run(ctx, time.Now().Add(90*time.Second),
		func(ctx context.Context, i due.Item, place due.Position) (bool, error) {
			sent, err := s.Send(ctx, i, time.Now().Add(time.Hour), 3*time.Second)
			if sent {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.sent[i.ID] = place
			}
			return sent, err
		})
	var log bytes.Buffer
	line.Emit(ctx, logx.New(&log), "test")
	w.measured = measured.In(t, log.Bytes())
	var fields map[string]any
	all := json.NewDecoder(&log)
	if broken := all.Decode(&fields); broken != nil {
		t.Fatal(broken)
	}
	w.told = nil
	for all.More() {
		var one map[string]any
		if broken := all.Decode(&one); broken != nil {
			t.Fatal(broken)
		}
		if one["msg"] != "metric" {
			w.told = append(w.told, one)
		}
	}
	return fields, err
}

// row returns an item that is due at the given offset from the start of the run. The offset may be negative.
func row(id string, after time.Duration) due.Item {
	return due.Item{
		Tenant: org.Tenant{Mode: org.Test, OrgID: orgID}, Kind: due.Connection, ID: id,
		At: time.Time{}.Add(after),
	}
}

func full(shards, rows int) [][]due.Item {
	all := make([][]due.Item, shards)
	for shard := range all {
		for i := range rows {
			all[shard] = append(all[shard], row(fmt.Sprintf("%d-%d", shard, i), -time.Second))
		}
	}
	return all
}

func wantLine(t *testing.T, line map[string]any, sent, failed int, oldest time.Duration, cutShort bool) {
	t.Helper()
	got := map[string]any{
		"sent": line["sent"], "failed": line["failed"], "oldest_ms": line["oldest_ms"],
		"cut_short": line["cut_short"],
	}
	want := map[string]any{
		"sent": float64(sent), "failed": float64(failed), "oldest_ms": float64(oldest.Milliseconds()),
		"cut_short": cutShort,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}

func TestSweepInterleavesDueRowsAcrossShards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: [][]due.Item{
			{row("a", -3*time.Hour), row("b", -time.Minute), row("c", time.Minute)},
			nil,
			{row("d", 0)},
		}}
		line, err := w.sweep(t, 55*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{"0 before 1m30s": 1, "1 before 1m30s": 1, "2 before 1m30s": 1},
			w.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]time.Duration{"a": time.Hour, "b": time.Hour, "c": time.Hour, "d": time.Hour},
			w.claimed); diff != "" {
			t.Errorf("claimed (-want +got):\n%s", diff)
		}
		want := map[string]due.Position{
			"a": {Index: 0, Total: 4}, "d": {Index: 1, Total: 4}, "b": {Index: 2, Total: 4},
			"c": {Index: 3, Total: 4},
		}
		if diff := cmp.Diff(want, w.sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		wantLine(t, line, 4, 0, 3*time.Hour, false)
	})
}

func TestSweepSendsNoMessagesWhenNoRowIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: make([][]due.Item, 16)}
		line, err := w.sweep(t, 55*time.Second)
		if err != nil || len(w.asked) != 16 {
			t.Errorf("%v after asking for %v", err, w.asked)
		}
		wantLine(t, line, 0, 0, 0, false)
	})
}

// TestSweepProcessesShardsAndRowsConcurrently checks that a run reads eight shards and sends eight messages
// concurrently, as the maximum number of due rows requires.
func TestSweepProcessesShardsAndRowsConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 200), takes: map[string]time.Duration{"Due": time.Second, "Send": 100 * time.Millisecond}}
		line, err := w.sweep(t, 55*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		wantLine(t, line, 3200, 0, time.Second, false)
		if diff := cmp.Diff(map[string]int{"Due": 8, "Send": 8},
			map[string]int{"Due": w.together["Due"], "Send": w.together["Send"]}); diff != "" {
			t.Errorf("at once (-want +got):\n%s", diff)
		}
		if took := time.Since(w.start); took != 42*time.Second {
			t.Errorf("it took %v, want 2 s for the shards and 40 s for the rows", took)
		}
	})
}

// TestSweepReturnsBeforeDeadlineAndServesAllShards checks that a run that is cut short processes equally many rows from
// every shard and ends without an error.
func TestSweepReturnsBeforeDeadlineAndServesAllShards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 200), takes: map[string]time.Duration{"Send": time.Second}}
		line, err := w.sweep(t, 55*time.Second)
		if err != nil {
			t.Errorf("got %v, want no failure: what is left is for the next run", err)
		}
		if took := time.Since(w.start); took < 50*time.Second || took > 52*time.Second {
			t.Errorf("it took %v", took)
		}
		if len(w.sent) < 400 || len(w.sent) > 416 || len(w.claimed) != len(w.sent) {
			t.Errorf("%d rows were claimed, %d sent, want about 400", len(w.claimed), len(w.sent))
		}
		shards := map[string]int{}
		for id := range w.sent {
			shard, _, _ := strings.Cut(id, "-")
			shards[shard]++
		}
		for shard, n := range shards {
			if n < 25 || n > 26 || len(shards) != 16 {
				t.Errorf("%d rows of shard %s were sent, of %d shards; want as many of each", n, shard, len(shards))
			}
		}
		wantLine(t, line, len(w.sent), 0, time.Second, true)
	})
}

// TestSweepCancelsHangingCalls checks that a hanging call is cancelled shortly before the deadline and reported.
func TestSweepCancelsHangingCalls(t *testing.T) {
	t.Parallel()
	for _, hanging := range []string{"Due", "Postpone", "Send"} {
		t.Run(hanging, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world{rows: full(2, 10), takes: map[string]time.Duration{hanging: time.Hour}}
				line, err := w.sweep(t, 55*time.Second)
				if took := time.Since(w.start); !errors.Is(err, context.DeadlineExceeded) || took != 54*time.Second {
					t.Errorf("%v after %v, want the end of the calls after 54 s", err, took)
				}
				if line["cut_short"] != true || line["sent"] != 0.0 {
					t.Errorf("log line %v", line)
				}
			})
		})
	}
}

func TestSweepStopsClaimingRowsNearDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(2, 2)}
		line, err := w.sweep(t, 4*time.Second)
		if err != nil || len(w.claimed) != 0 || len(w.asked) != 0 {
			t.Errorf("%v, claimed %v after asking for %v", err, w.claimed, w.asked)
		}
		wantLine(t, line, 0, 0, 0, true)
	})
}

func TestSweepSkipsRowClaimedElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: [][]due.Item{{row("a", 0), row("b", 0)}}, failing: map[string]error{"Postpone a": fault.Stale()}}
		line, err := w.sweep(t, time.Minute)
		if err != nil {
			t.Errorf("got %v, want no failure", err)
		}
		if _, ok := w.sent["a"]; ok || len(w.sent) != 1 {
			t.Errorf("sent %v, want b alone", w.sent)
		}
		wantLine(t, line, 1, 0, 0, false)
	})
}

func TestSweepContinuesAfterFailedRow(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"Due 1", "Postpone bad", "Send bad"} {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world{
					rows:    [][]due.Item{{row("first", 0), row("bad", 0), row("second", 0)}, nil, {row("third", 0)}},
					failing: map[string]error{failing: errTrouble},
				}
				line, err := w.sweep(t, time.Minute)
				if want := map[string]int{"OverdueSeconds connection": 1}; !cmp.Equal(want, w.measured) {
					t.Errorf("measured %v, want %v", w.measured, want)
				}
				if !errors.Is(err, errTrouble) || line["failed"] != 1.0 {
					t.Errorf("got %v and %v failed, want the trouble once", err, line["failed"])
				}
				isRow := failing != "Due 1"
				if isRow != (len(w.told) == 1) || isRow &&
					(w.told[0]["connection_id"] != "bad" || w.told[0]["org_id"] != orgID || w.told[0]["result"] != "failed") {
					t.Errorf("lines about rows: %v", w.told)
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

// TestSweepCountsAllFailuresAndLogsFirstOnes checks that the log line doesn't list thousands of errors while the queue
// is down.
func TestSweepCountsAllFailuresAndLogsFirstOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world{rows: full(16, 20), failing: map[string]error{}}
		for _, items := range w.rows {
			for _, i := range items {
				w.failing["Send "+i.ID] = errTrouble
			}
		}
		line, err := w.sweep(t, time.Minute)
		if !errors.Is(err, errTrouble) || strings.Count(err.Error(), errTrouble.Error()) != 10 {
			t.Errorf("got %v, want the trouble ten times", err)
		}
		if len(w.told) != 10 {
			t.Errorf("%d lines about rows, want 10", len(w.told))
		}
		if line["failed"] != 320.0 || line["sent"] != 0.0 {
			t.Errorf("log line %v, want 320 failed", line)
		}
	})
}

func TestSendMakesRowDueAtOnceWhenQueueServiceFails(t *testing.T) {
	t.Parallel()
	down := fault.Spot{Dependency: "SQS", Operation: "SendMessage", Class: "no_answer"}.Failed(errTrouble)
	for name, test := range map[string]struct {
		err  error
		want time.Duration
	}{
		"SQS fails":     {down, -time.Minute},
		"any other way": {errTrouble, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world{rows: [][]due.Item{{row("a", -time.Minute)}}, failing: map[string]error{"Send a": test.err}}
				if _, err := w.sweep(t, 55*time.Second); !errors.Is(err, errTrouble) {
					t.Errorf("got %v", err)
				}
				if got := w.claimed["a"]; got != test.want {
					t.Errorf("due again after %v, want %v", got, test.want)
				}
			})
		})
	}
}
