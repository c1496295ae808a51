package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/local/aws/journal"
)

func equateEmpty() cmp.Option { return cmpopts.EquateEmpty() }

// counters is a service in small: numbers under names. A record adds to one, so that a record that is replayed twice,
// or lost, shows.
type counters struct {
	log *journal.Log

	mu     sync.Mutex
	values map[string]int
}

type addition struct {
	Name string `json:"name"`
	By   int    `json:"by"`
}

func restartCounters(log *journal.Log) (*counters, error) {
	c := &counters{log: log, values: map[string]int{}}
	return c, log.Replay(func(_ string, record json.RawMessage) error {
		var a addition
		err := json.Unmarshal(record, &a)
		c.values[a.Name] += a.By
		return err
	})
}

func (c *counters) add(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.log.Append("counters", addition{name, 1}); err != nil {
		return err
	}
	c.values[name]++
	return nil
}

func (c *counters) dump(emit func(string, any) error, finish func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if err := emit("counters", addition{name, c.values[name]}); err != nil {
			return err
		}
	}
	return finish()
}

// worn is a directory with a journal of many records and a small state.
func worn(tb testing.TB, disk *journal.FaultyDisk) (dir string, c *counters) {
	tb.Helper()
	dir = tb.TempDir()
	c, err := restartCounters(openOn(tb, disk, dir))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 60 {
		if err := c.add("c" + strconv.Itoa(i%3)); err != nil {
			tb.Fatal(err)
		}
	}
	return dir, c
}

// afterKill is what a process finds that starts on dir when its owner was killed, and the files it leaves there.
func afterKill(tb testing.TB, dir string) (values map[string]int, files []string) {
	tb.Helper()
	copied := tb.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	c, err := restartCounters(open(tb, copied))
	if err != nil {
		tb.Fatal(err)
	}
	if err = c.add("after"); err != nil {
		tb.Fatal(err)
	}
	closeLog(tb, c.log)
	c, err = restartCounters(open(tb, copied))
	if err != nil {
		tb.Fatal(err)
	}
	if c.values["after"] != 1 {
		tb.Errorf("what was written after the kill counts %d times", c.values["after"])
	}
	delete(c.values, "after")
	return c.values, names(tb, copied)
}

func TestCompactionKeepsTheStateAndLosesTheHistory(t *testing.T) {
	t.Parallel()
	dir, c := worn(t, &journal.FaultyDisk{})
	before := len(read(t, dir))
	if err := c.log.Compact(c.dump); err != nil {
		t.Fatal(err)
	}
	if after := len(read(t, dir)); after*5 > before {
		t.Errorf("%d bytes became %d", before, after)
	}
	if err := c.add("c0"); err != nil {
		t.Fatal(err)
	}
	got, files := afterKill(t, dir)
	if diff := cmp.Diff(map[string]int{"c0": 21, "c1": 20, "c2": 20}, got); diff != "" {
		t.Errorf("after compaction and restart (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"journal.ndjson", "lock"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAKillAtAnyByteOfACompactionLeavesTheOldJournalOrTheNew(t *testing.T) {
	t.Parallel()
	dir, c := worn(t, &journal.FaultyDisk{})
	old := read(t, dir)
	if err := c.log.Compact(c.dump); err != nil {
		t.Fatal(err)
	}
	closeLog(t, c.log)
	compacted := read(t, dir)
	want := c.values
	draft := filepath.Join(dir, "journal.ndjson.new")
	write(t, dir, old)
	for size := range len(compacted) + 1 {
		if err := os.WriteFile(draft, []byte(compacted[:size]), 0o600); err != nil {
			t.Fatal(err)
		}
		got, files := afterKill(t, dir)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("killed when the draft had %d bytes (-want +got):\n%s", size, diff)
		}
		if slices.Contains(files, filepath.Base(draft)) {
			t.Fatalf("the draft of %d bytes is still there", size)
		}
	}
}

func TestACompactionThatFailsAtAnyStepHarmsNothing(t *testing.T) {
	t.Parallel()
	// The steps: open the draft, sync it, rename it, sync the directory.
	for step := range 4 {
		t.Run(fmt.Sprintf("step %d", step), func(t *testing.T) {
			t.Parallel()
			disk := &journal.FaultyDisk{}
			dir, c := worn(t, disk)
			c.log.SetDue(1)
			disk.StopsAt, disk.Step = true, step
			if err := c.log.Compact(c.dump); !errors.Is(err, journal.ErrFault) {
				t.Fatalf("got %v, want the disk's error", err)
			}
			disk.StopsAt = false
			wantGoesOn(t, dir, c)
		})
	}
}

func TestACompactionThatFillsTheDiskHarmsNothing(t *testing.T) {
	t.Parallel()
	disk := &journal.FaultyDisk{}
	dir, c := worn(t, disk)
	for _, room := range []int{0, 1, 60, 200} {
		c.log.SetDue(1)
		disk.Budget = &room
		if err := c.log.Compact(c.dump); !errors.Is(err, journal.ErrFault) {
			t.Fatalf("got %v, want the disk's error", err)
		}
		disk.Budget = nil
		wantGoesOn(t, dir, c)
	}
}

// wantGoesOn checks that nothing is lost after a failed compaction, that the next one is not due at once, and that it
// works.
func wantGoesOn(t *testing.T, dir string, c *counters) {
	t.Helper()
	if c.log.Due() {
		t.Error("a compaction that failed is due again at once")
	}
	if diff := cmp.Diff([]string{"journal.ndjson", "lock"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := c.add("c1"); err != nil {
		t.Fatal(err)
	}
	for _, compact := range []bool{false, true} {
		if compact {
			if err := c.log.Compact(c.dump); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := afterKill(t, dir); !maps.Equal(got, c.values) {
			t.Errorf("compacted: %v: got %v, want %v", compact, got, c.values)
		}
	}
}

func TestADumpThatFailsOrStopsHarmsNothing(t *testing.T) {
	t.Parallel()
	errState := errors.New("state cannot be read")
	for name, dump := range map[string]journal.Dump{
		"fails":  func(func(string, any) error, func() error) error { return errState },
		"stops":  func(func(string, any) error, func() error) error { return nil },
		"no way": func(emit func(string, any) error, _ func() error) error { return emit("counters", func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, c := worn(t, &journal.FaultyDisk{})
			if err := c.log.Compact(dump); err == nil {
				t.Error("the compaction succeeded")
			}
			wantGoesOn(t, dir, c)
		})
	}
}

func TestChangesDuringCompactionsAreNeitherLostNorDoubled(t *testing.T) {
	t.Parallel()
	dir, c := worn(t, &journal.FaultyDisk{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range 300 {
				if err := c.add("c" + strconv.Itoa(i%3)); err != nil {
					t.Errorf("add: %v", err)
				}
			}
		})
	}
	writers.Go(func() {
		for range 20 {
			if err := c.log.Compact(c.dump); err != nil {
				t.Errorf("compact: %v", err)
			}
		}
	})
	writers.Wait()
	got, _ := afterKill(t, dir)
	if want := map[string]int{"c0": 420, "c1": 420, "c2": 420}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCompactionIsDueWhenTheJournalHasOutgrownTheState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir)
	replay(t, log)
	large := note{Text: string(make([]byte, 100<<10))} // every zero byte takes six in JSON
	grow := func(size int) (appended int) {
		t.Helper()
		for ; len(read(t, dir)) < size; appended++ {
			if log.Due() {
				t.Fatalf("due at %d bytes", len(read(t, dir)))
			}
			if err := log.Append("sqs", large); err != nil {
				t.Fatal(err)
			}
		}
		return appended
	}
	grow(4 << 20)
	if !log.Due() {
		t.Fatal("not due at 4 MiB")
	}
	halfOfIt := func(emit func(string, any) error, finish func() error) error {
		for range 3 {
			if err := emit("sqs", large); err != nil {
				return err
			}
		}
		return finish()
	}
	if err := log.Compact(halfOfIt); err != nil {
		t.Fatal(err)
	}
	closeLog(t, log)
	log = open(t, dir) // that the state takes so much is known after a restart as well
	replay(t, log)
	grow(4 * len(read(t, dir)))
	if !log.Due() {
		t.Error("not due at four times the size after the last compaction")
	}
}

func TestAClosedJournalIsNotCompacted(t *testing.T) {
	t.Parallel()
	dir, c := worn(t, &journal.FaultyDisk{})
	closeLog(t, c.log)
	before := read(t, dir)
	if err := c.log.Compact(c.dump); err == nil {
		t.Error("the compaction succeeded")
	}
	if read(t, dir) != before {
		t.Error("the file was changed by a process that has given the directory up")
	}
}
