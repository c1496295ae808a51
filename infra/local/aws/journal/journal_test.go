package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/journal"
)

type note struct {
	Text string `json:"text"`
}

func TestRecordsComeBackInTheOrderOfTheirWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	if got := replay(t, first); len(got) != 0 {
		t.Fatalf("a new journal replayed %q", got)
	}
	appendAll(t, first, "sqs", "one")
	appendAll(t, first, "kms", `<"two"}`)
	appendAll(t, first, "sqs", "three\n")
	closeLog(t, first)

	want := []string{`sqs {"text":"one"}`, `kms {"text":"\u003c\"two\"}"}`, `sqs {"text":"three\n"}`}
	if diff := cmp.Diff(want, replay(t, open(t, dir))); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

func TestEveryLineIsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir)
	replay(t, log)
	appendAll(t, log, "sqs", "one", "two")
	want := []string{
		`{"journal":"recordbridge embedded AWS","format":2}`,
		`{"seq":1,"service":"sqs","record":{"text":"one"},"crc32":"`,
		`{"seq":2,"service":"sqs","record":{"text":"two"},"crc32":"`,
	}
	for i, line := range strings.Split(strings.TrimSuffix(read(t, dir), "\n"), "\n") {
		if !strings.HasPrefix(line, want[i]) || !json.Valid([]byte(line)) {
			t.Errorf("line %d is %s, want JSON that starts with %s", i+1, line, want[i])
		}
	}
}

func TestAppendBeforeReplayIsRefused(t *testing.T) {
	t.Parallel()
	if err := open(t, t.TempDir()).Append("sqs", note{Text: "early"}); err == nil {
		t.Error("Append before Replay succeeded; it could have continued a torn line")
	}
}

func TestConcurrentAppendsKeepWholeLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir)
	replay(t, log)
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for i := range 50 {
				if err := log.Append("sqs", note{Text: strconv.Itoa(writer*50 + i)}); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	writers.Wait()
	closeLog(t, log)
	if got := len(replay(t, open(t, dir))); got != 400 {
		t.Errorf("got %d records back, want 400", got)
	}
}

func TestTheJournalIsPrivateToItsOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	info, err := os.Stat(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode is %v, want 0600", got)
	}
}

func TestADirectoryHasOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	_, err := journal.Open(dir)
	if err == nil {
		t.Fatal("a second Open succeeded")
	}
	for _, want := range []string{dir, strconv.Itoa(os.Getpid()), "stop it, or start with another -data directory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
	if _, err = journal.Repair(dir, nothing); err == nil {
		t.Error("a repair of a directory in use succeeded")
	}
	closeLog(t, first)
	open(t, dir)
}

func TestAWriteThatFailsHalfwayLeavesNoTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := &journal.FaultyDisk{}
	log := openOn(t, disk, dir)
	replay(t, log)
	appendAll(t, log, "sqs", "one")
	for written := range 40 {
		disk.Budget = &written
		if err := log.Append("sqs", note{Text: "lost"}); err == nil {
			t.Fatalf("a write of which %d bytes fitted was acknowledged", written)
		}
	}
	disk.Budget = nil
	appendAll(t, log, "sqs", "two")
	closeLog(t, log)
	if diff := cmp.Diff([]string{`sqs {"text":"one"}`, `sqs {"text":"two"}`}, replay(t, open(t, dir))); diff != "" {
		t.Errorf("after a full disk (-want +got):\n%s", diff)
	}
}

func TestAFailedWriteThatCannotBeUndoneIsTheLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := &journal.FaultyDisk{}
	log := openOn(t, disk, dir)
	replay(t, log)
	appendAll(t, log, "sqs", "one")
	disk.Budget, disk.KeepsTorn = new(int(5)), true
	if err := log.Append("sqs", note{Text: "lost"}); err == nil {
		t.Fatal("a write that failed was acknowledged")
	}
	disk.Budget = nil
	if err := log.Append("sqs", note{Text: "after it"}); err == nil {
		t.Fatal("a line was written behind half a line")
	}
	closeLog(t, log)
	if diff := cmp.Diff([]string{`sqs {"text":"one"}`}, replay(t, open(t, dir))); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

func open(tb testing.TB, dir string) *journal.Log {
	tb.Helper()
	log, err := journal.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	return log
}

func openOn(tb testing.TB, disk *journal.FaultyDisk, dir string) *journal.Log {
	tb.Helper()
	log, err := journal.OpenOn(disk, dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	return log
}

func closeLog(tb testing.TB, log *journal.Log) {
	tb.Helper()
	if err := log.Close(); err != nil {
		tb.Fatal(err)
	}
}

func appendAll(tb testing.TB, log *journal.Log, service string, texts ...string) {
	tb.Helper()
	for _, text := range texts {
		if err := log.Append(service, note{Text: text}); err != nil {
			tb.Fatal(err)
		}
	}
}

// nothing is a service that takes every record.
func nothing(string, json.RawMessage) error { return nil }

func replay(tb testing.TB, log *journal.Log) []string {
	tb.Helper()
	var got []string
	err := log.Replay(func(service string, record json.RawMessage) error {
		got = append(got, service+" "+string(record))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func read(tb testing.TB, dir string) string {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

func write(tb testing.TB, dir, content string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// names lists a directory.
func names(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]string, 0, len(entries))
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}
