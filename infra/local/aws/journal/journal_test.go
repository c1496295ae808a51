package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/journal"
)

const header = `{"journal":"recordbridge embedded AWS","format":2}` + "\n"

type notes struct{ texts []string }

func (n *notes) apply(service string, record json.RawMessage) error {
	var text string
	if err := json.Unmarshal(record, &text); err != nil || service != "notes" {
		return fmt.Errorf("%s takes no %s", service, record)
	}
	n.texts = append(n.texts, text)
	return nil
}

func (n *notes) dump(emit func(service string, record any) error) error {
	for _, text := range n.texts {
		if err := emit("notes", text); err != nil {
			return err
		}
	}
	return nil
}

func opened(t *testing.T, dir string) *journal.Log {
	t.Helper()
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func restored(t *testing.T, dir string) (*journal.Log, []string) {
	t.Helper()
	log, state := opened(t, dir), notes{}
	if err := log.Restore(state.apply, state.dump); err != nil {
		t.Fatal(err)
	}
	return log, state.texts
}

func store(t *testing.T, log *journal.Log, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := log.Append("notes", text); err != nil {
			t.Fatal(err)
		}
	}
}

func end(t *testing.T, log *journal.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func written(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journal.ndjson"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRestoreReturnsRecordsInOrder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "made")
	log, _ := restored(t, dir)
	store(t, log, "one", `<"two"}`+"\n")
	end(t, log)
	log, _ = restored(t, dir)
	store(t, log, "three")
	end(t, log)
	_, got := restored(t, dir)
	if diff := cmp.Diff([]string{"one", `<"two"}` + "\n", "three"}, got); diff != "" {
		t.Errorf("after two restarts (-want +got):\n%s", diff)
	}
}

func TestRestoreReplacesFileWithSnapshot(t *testing.T) {
	t.Parallel()
	dir := written(t, header+strings.Repeat(`{"service":"notes","record":"worn"}`+"\n", 1000))
	state := notes{}
	log := opened(t, dir)
	last := func(emit func(service string, record any) error) error {
		return emit("notes", state.texts[len(state.texts)-1])
	}
	if err := log.Restore(state.apply, last); err != nil {
		t.Fatal(err)
	}
	store(t, log, "new")
	want := header + `{"service":"notes","record":"worn"}` + "\n" + `{"service":"notes","record":"new"}` + "\n"
	if diff := cmp.Diff(want, content(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRestoreKeepsFileWhenSnapshotFails(t *testing.T) {
	t.Parallel()
	before := header + `{"service":"notes","record":"one"}` + "\n" + `{"service":"notes","rec`
	dir := written(t, before)
	log := opened(t, dir)
	errGone := errors.New("gone")
	err := log.Restore((&notes{}).apply, func(emit func(service string, record any) error) error {
		return errors.Join(emit("notes", "half"), errGone)
	})
	if !errors.Is(err, errGone) || content(t, dir) != before {
		t.Errorf("got %v and %q, want the error and the file as it was", err, content(t, dir))
	}
	if err := log.Append("notes", "two"); err == nil {
		t.Error("an append succeeded without a snapshot")
	}
	end(t, log)
	if _, got := restored(t, dir); len(got) != 1 {
		t.Errorf("got %q at the next start, want one", got)
	}
}

func TestRestoreKeepsCompleteRecordsOfTruncatedFile(t *testing.T) {
	t.Parallel()
	whole := header + `{"service":"notes","record":"one"}` + "\n" + `{"service":"notes","record":"two"}` + "\n"
	for size := len(header); size <= len(whole); size++ {
		dir := written(t, whole[:size])
		log, got := restored(t, dir)
		if want := strings.Count(whole[:size], "\n") - 1; len(got) != want {
			t.Errorf("cut at byte %d: got %q, want %d records", size, got, want)
		}
		store(t, log, "three")
		end(t, log)
		if _, again := restored(t, dir); len(again) != len(got)+1 {
			t.Errorf("cut at byte %d: got %q after another record, want it and %q", size, again, got)
		}
	}
}

func TestRestoreErrorNamesFileAndLine(t *testing.T) {
	t.Parallel()
	one, two := `{"service":"notes","record":"one"}`+"\n", `{"service":"notes","record":"two"}`+"\n"
	tests := map[string]struct {
		text string
		line int
	}{
		"an empty file":             {"", 1},
		"half a header":             {header[:20], 1},
		"no header":                 {one + two, 1},
		"another format":            {strings.Replace(header, "2", "9", 1) + one, 1},
		"something else":            {"<html>", 1},
		"half a line in the middle": {header + one[:20] + "\n" + two, 2},
		"a changed byte":            {header + one + strings.Replace(two, `"record"`, `"record`, 1), 3},
		"an empty line":             {header + one + "\n" + two, 3},
		"another service":           {header + one + `{"service":"lambda","record":"x"}` + "\n", 3},
		"a record that is refused":  {header + one + two + `{"service":"notes","record":5}` + "\n" + two, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, state := written(t, test.text), notes{}
			err := opened(t, dir).Restore(state.apply, state.dump)
			want := filepath.Join(dir, "journal.ndjson") + ", line " + strconv.Itoa(test.line) + ":"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
			if got := content(t, dir); got != test.text {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

func TestAppendFailsUnlessJournalIsOpen(t *testing.T) {
	t.Parallel()
	log := opened(t, t.TempDir())
	if err := log.Append("notes", "early"); err == nil {
		t.Error("an append before Restore succeeded")
	}
	end(t, log)
	log, _ = restored(t, t.TempDir())
	end(t, log)
	if err := log.Append("notes", "late"); err == nil {
		t.Error("an append after Close succeeded")
	}
}

func TestAppendStopsAfterFailedWrite(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no file to which nothing can be written")
	}
	t.Cleanup(func() { _ = full.Close() })
	dir := t.TempDir()
	log, _ := restored(t, dir)
	store(t, log, "one")
	file := log.WriteTo(full)
	if err := log.Append("notes", "lost"); err == nil {
		t.Error("a write that failed was acknowledged")
	}
	log.WriteTo(file)
	if err := log.Append("notes", "behind half a line"); err == nil {
		t.Error("a line was written behind what may be half a line")
	}
	end(t, log)
	if _, got := restored(t, dir); len(got) != 1 {
		t.Errorf("got %q after a restart, want one", got)
	}
}

func TestConcurrentAppendsWriteCompleteLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, _ := restored(t, dir)
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for i := range 50 {
				if err := log.Append("notes", strconv.Itoa(writer*50+i)); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	writers.Wait()
	end(t, log)
	if _, got := restored(t, dir); len(got) != 400 {
		t.Errorf("got %d records back, want 400", len(got))
	}
}

func TestJournalFileIsReadableByOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	restored(t, dir)
	info, err := os.Stat(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode is %v, want 0600", got)
	}
}

func TestOpenRejectsFolderLockedByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := opened(t, dir)
	_, err := journal.Open(dir)
	if err == nil {
		t.Fatal("a second Open succeeded")
	}
	for _, want := range []string{dir, strconv.Itoa(os.Getpid()), "stop it, or start with another -data folder"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
	end(t, first)
	opened(t, dir)
}
