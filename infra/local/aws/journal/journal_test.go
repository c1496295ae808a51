package journal_test

import (
	"encoding/json"
	"errors"
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
	want := []string{`sqs {"text":"one"}`, `kms {"text":"\u003ctwo\u003e"}`, `sqs {"text":"three"}`}
	appendAll(t, first, "sqs", "one")
	appendAll(t, first, "kms", "<two>")
	appendAll(t, first, "sqs", "three")
	closeLog(t, first)

	if diff := cmp.Diff(want, replay(t, open(t, dir))); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

func TestATornLastLineIsCutOffAndWritingGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	replay(t, first)
	appendAll(t, first, "sqs", "one", "two")
	closeLog(t, first)
	content := read(t, dir)
	write(t, dir, content[:len(content)-7]) // the crash came seven bytes before the end of line 2

	second := open(t, dir)
	if diff := cmp.Diff([]string{`sqs {"text":"one"}`}, replay(t, second)); diff != "" {
		t.Errorf("after the crash (-want +got):\n%s", diff)
	}
	appendAll(t, second, "sqs", "three")
	closeLog(t, second)
	want := []string{`sqs {"text":"one"}`, `sqs {"text":"three"}`}
	if diff := cmp.Diff(want, replay(t, open(t, dir))); diff != "" {
		t.Errorf("after writing on (-want +got):\n%s", diff)
	}
}

func TestDamageInTheMiddleNamesFileLineAndWayOut(t *testing.T) {
	t.Parallel()
	tests := map[string]func(lines []string) []string{
		"a changed record":     func(l []string) []string { return []string{l[0], strings.Replace(l[1], "two", "TWO", 1), l[2]} },
		"a changed service":    func(l []string) []string { return []string{l[0], strings.Replace(l[1], "sqs", "kms", 1), l[2]} },
		"half a line":          func(l []string) []string { return []string{l[0], l[1][:9] + "\n", l[2]} },
		"an empty line":        func(l []string) []string { return []string{l[0], "\n", l[2]} },
		"a complete last line": func(l []string) []string { return []string{l[0], "{}garbage\n"} },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := open(t, dir)
			replay(t, first)
			appendAll(t, first, "sqs", "one", "two", "three")
			closeLog(t, first)
			write(t, dir, strings.Join(damage(strings.SplitAfter(read(t, dir), "\n")), ""))

			err := open(t, dir).Replay(func(string, json.RawMessage) error { return nil })
			if err == nil {
				t.Fatal("a damaged journal was accepted")
			}
			for _, want := range []string{"journal.ndjson", "line 2", "move the file away or start with an empty -data directory"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestARecordThatTheServiceRefusesStopsTheReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	replay(t, first)
	appendAll(t, first, "sqs", "one")
	closeLog(t, first)

	errRefused := errors.New("no such queue")
	err := open(t, dir).Replay(func(string, json.RawMessage) error { return errRefused })
	if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v, want the service's error with its line", err)
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

func open(t *testing.T, dir string) *journal.Log {
	t.Helper()
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func closeLog(t *testing.T, log *journal.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendAll(t *testing.T, log *journal.Log, service string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := log.Append(service, note{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

func replay(t *testing.T, log *journal.Log) []string {
	t.Helper()
	var got []string
	err := log.Replay(func(service string, record json.RawMessage) error {
		got = append(got, service+" "+string(record))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func read(t *testing.T, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
