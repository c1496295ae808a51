package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/journal"
)

// sample is a journal with a few records, as a file and as what it replays to.
func sample(tb testing.TB) (content string, records []string) {
	tb.Helper()
	dir := tb.TempDir()
	log := open(tb, dir)
	replay(tb, log)
	appendAll(tb, log, "sqs", "one", "two", "naïve \" \\ }")
	appendAll(tb, log, "kms", "", "five")
	closeLog(tb, log)
	return read(tb, dir), replay(tb, open(tb, dir))
}

func TestAKillAtAnyByteCostsTheUnfinishedRecordOnly(t *testing.T) {
	t.Parallel()
	content, records := sample(t)
	dir := t.TempDir()
	for size := range len(content) + 1 {
		write(t, dir, content[:size])
		log := open(t, dir)
		want := records[:max(0, strings.Count(content[:size], "\n")-1)]
		got := replay(t, log)
		if diff := cmp.Diff(want, got, equateEmpty()); diff != "" {
			t.Fatalf("cut at byte %d (-want +got):\n%s", size, diff)
		}
		appendAll(t, log, "sqs", "after the kill")
		closeLog(t, log)
		again := open(t, dir)
		if diff := cmp.Diff(append(got, `sqs {"text":"after the kill"}`), replay(t, again)); diff != "" {
			t.Fatalf("cut at byte %d and written on (-want +got):\n%s", size, diff)
		}
		closeLog(t, again)
	}
}

func TestAnyByteThatChangesIsNoticed(t *testing.T) {
	t.Parallel()
	content, _ := sample(t)
	dir := t.TempDir()
	for at := range len(content) {
		for _, flip := range []byte{1, 0x20, 0x80} {
			damaged := []byte(content)
			damaged[at] ^= flip
			write(t, dir, string(damaged))
			log := open(t, dir)
			err := log.Replay(nothing)
			closeLog(t, log)
			if err == nil {
				t.Fatalf("byte %d became %q from %q, and nobody noticed", at, damaged[at], content[at])
			}
			line := strings.Count(content[:at], "\n") + 1
			if want := fmt.Sprintf("line %d ", line); !strings.Contains(err.Error(), want) {
				t.Fatalf("byte %d: error %q does not contain %q", at, err, want)
			}
		}
	}
}

func TestDamageIsNamedWithItsPlaceAndTheWayOut(t *testing.T) {
	t.Parallel()
	content, _ := sample(t)
	l := strings.SplitAfter(content, "\n")
	tests := map[string]struct {
		content string
		line    int
		reason  string
	}{
		"a changed record":       {l[0] + l[1] + strings.Replace(l[2], "two", "TWO", 1) + l[3], 3, "checksum"},
		"a changed service":      {l[0] + l[1] + strings.Replace(l[2], "sqs", "ssm", 1) + l[3], 3, "checksum"},
		"a missing line":         {l[0] + l[1] + l[3] + l[4], 3, "record 3 where record 2 is expected, so lines are missing"},
		"a missing first line":   {l[0] + l[2], 2, "record 2 where record 1 is expected, so lines are missing"},
		"a line twice":           {l[0] + l[1] + l[2] + l[2] + l[3], 4, "record 2, which stands further up already, where record 3 is expected"},
		"lines in another order": {l[0] + l[1] + l[3] + l[2], 3, "lines are missing"},
		"half a line":            {l[0] + l[1] + l[2][:9] + "\n" + l[3], 3, "no line of a journal"},
		"an empty line":          {l[0] + l[1] + "\n" + l[2], 3, "no line of a journal"},
		"other text at the end":  {l[0] + l[1] + "{}garbage\n", 3, "no line of a journal"},
		"another line end":       {l[0] + l[1] + strings.TrimSuffix(l[2], "\n") + "\r", 3, "line end"},
		"another line's record":  {l[0] + strings.Replace(l[1], "one", "two", 1), 2, "checksum"},
		"another format":         {strings.Replace(l[0], "2", "3", 1) + l[1], 1, "written in format 3, and this program reads format 2"},
		"no header":              {l[1] + l[2], 1, "the header is missing"},
		"an earlier version": {
			`{"service":"sqs","record":{},"crc32":12}` + "\n", 1, "this is no journal of format 2; earlier versions wrote none",
		},
		"something else":           {"garbage\n", 1, "the header is missing"},
		"something else, no lines": {"garbage", 1, "the header is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, test.content)
			err := open(t, dir).Replay(nothing)
			if err == nil {
				t.Fatal("a damaged journal was accepted")
			}
			offset := len(strings.Join(strings.SplitAfterN(test.content, "\n", test.line)[:test.line-1], ""))
			for _, want := range []string{
				filepath.Join(dir, "journal.ndjson"), fmt.Sprintf("line %d (byte %d)", test.line, offset), test.reason,
				fmt.Sprintf("-data-repair to keep the %d records before it", max(0, test.line-2)), "another -data directory",
			} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
			if got := read(t, dir); got != test.content {
				t.Error("the damaged file was changed")
			}
		})
	}
}

func TestARecordThatTheServiceRefusesStopsTheReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content, _ := sample(t)
	write(t, dir, content)
	errRefused := errors.New("no such queue")
	err := open(t, dir).Replay(func(service string, _ json.RawMessage) error {
		if service == "kms" {
			return errRefused
		}
		return nil
	})
	if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("got %v, want the service's error with its line", err)
	}
}

func TestFindGivesThePlaceOfTheLastLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content, _ := sample(t)
	write(t, dir, content)
	log := open(t, dir)
	line, offset, err := log.Find("two")
	if err != nil || line != 3 || !strings.HasPrefix(content[offset:], `{"seq":2,`) {
		t.Errorf("got line %d at byte %d (%v), want line 3", line, offset, err)
	}
	if line, _, err := log.Find("nowhere"); line != 0 || err != nil {
		t.Errorf("got line %d (%v) for what no line has", line, err)
	}
}

func TestRepairKeepsWhatStandsBeforeTheDamage(t *testing.T) {
	t.Parallel()
	content, records := sample(t)
	l := strings.SplitAfter(content, "\n")
	refuse := func(_ string, record json.RawMessage) error {
		if string(record) == `{"text":"two"}` {
			return errors.New("no such queue")
		}
		return nil
	}
	tests := map[string]struct {
		content    string
		apply      func(string, json.RawMessage) error
		kept, lost int
	}{
		"a changed record":        {l[0] + l[1] + strings.Replace(l[2], "two", "TWO", 1) + l[3] + l[4], nothing, 1, 3},
		"a missing line":          {l[0] + l[1] + l[2] + l[4] + l[5], nothing, 2, 2},
		"the last line twice":     {content + l[5], nothing, 5, 1},
		"damage and a torn end":   {l[0] + l[1] + "\n" + l[3] + l[4][:9], nothing, 1, 3},
		"a record nobody takes":   {content, refuse, 1, 4},
		"a journal without head":  {l[1] + l[2], nothing, 0, 2},
		"a journal of the future": {strings.Replace(l[0], "2", "3", 1) + l[1], nothing, 0, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, test.content)
			got, err := journal.Repair(dir, test.apply)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kept != test.kept || got.Lost != test.lost {
				t.Errorf("kept %d and lost %d, want %d and %d", got.Kept, got.Lost, test.kept, test.lost)
			}
			moved := filepath.Base(got.DamagedFile)
			if !strings.HasPrefix(moved, "journal.ndjson.damaged-2") {
				t.Errorf("the damaged file is called %q", moved)
			}
			if diff := cmp.Diff([]string{"journal.ndjson", moved, "lock"}, names(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			log := open(t, dir)
			if diff := cmp.Diff(records[:test.kept], replay(t, log), equateEmpty()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			appendAll(t, log, "sqs", "on")
		})
	}
}

func TestRepairTouchesNothingThatIsWhole(t *testing.T) {
	t.Parallel()
	content, _ := sample(t)
	for _, whole := range []string{content, content[:len(content)-4], ""} {
		dir := t.TempDir()
		write(t, dir, whole)
		got, err := journal.Repair(dir, nothing)
		if err != nil {
			t.Fatal(err)
		}
		want := journal.Repaired{Kept: max(0, strings.Count(whole, "\n")-1)}
		if got != want || read(t, dir) != whole {
			t.Errorf("got %+v, want %+v and the file as it was", got, want)
		}
	}
}
