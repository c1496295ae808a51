package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/shared/logx"
)

// documented is a row of the table of failures in docs/operations.md.
type documented struct {
	message string
	fields  map[string]string // "" is any value, "-" none; what stands between … is a part of it
}

// documentedFailures reads the table. What every line has need not stand in it.
func documentedFailures(t *testing.T) map[string]documented {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	must(t, err)
	_, table, found := strings.Cut(string(text), "| Failure | Line | Fields | What to do |\n|---|---|---|---|\n")
	if !found {
		t.Fatal("docs/operations.md has no table of failures")
	}
	marked := regexp.MustCompile("`([^`]+)`")
	all := map[string]documented{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 {
			break
		}
		row := documented{message: strings.Trim(cells[1], "`"), fields: map[string]string{"result": "failed", "org_id": "", "mode": "test"}}
		for _, field := range marked.FindAllStringSubmatch(cells[2], -1) {
			name, value, _ := strings.Cut(field[1], "=")
			row.fields[name] = value
		}
		all[strings.TrimPrefix(cells[0], "| ")] = row
	}
	return all
}

// isOn tells whether a line is as documented.
func (d documented) isOn(line map[string]any) bool {
	if line["msg"] != d.message {
		return false
	}
	for name, want := range d.fields {
		value, isThere := line[name]
		got := fmt.Sprint(value)
		inner := strings.Trim(want, "…")
		switch {
		case want == "-":
			if isThere {
				return false
			}
		case !isThere || got == "" || got == "[redacted]":
			return false
		case name == "host" && got != strings.TrimPrefix(host, "http://"):
			return false
		case want != "" && inner == want && got != want, inner != want && !strings.Contains(got, inner):
			return false
		}
	}
	return true
}

// lines are what the functions have logged, redacted as in production.
func (s *stack) lines() []map[string]any {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []map[string]any
	for text := range strings.Lines(s.logs.String()) {
		var line map[string]any
		must(s.t, json.Unmarshal([]byte(text), &line))
		all = append(all, line)
	}
	return all
}

// amiss refuses calls to AWS while it is set.
type amiss struct {
	service, operation string
	code               string // empty: nothing is refused
}

func (a *amiss) middleware(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		if a.code == "" || c.Service != a.service || c.Operation != a.operation {
			next(w, r, c)
			return
		}
		wire.WriteJSONError(w, "1.0", &wire.Error{Code: a.code, Message: "The level of configured throughput was exceeded."})
	}
}

// logger writes lines redacted, as in production, and notes them as they were before: redaction is the last line of defence.
func (w *wiretap) logger(out io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(logx.New(out).Handler(), slog.NewJSONHandler(noted{w}, nil)))
}

// noted hears what is written.
type noted struct{ wiretap *wiretap }

func (n noted) Write(line []byte) (int, error) {
	n.wiretap.note("a log", string(line))
	return len(line), nil
}

// reportLogs looks for secrets in what was logged, and nowhere else.
func (w *wiretap) reportLogs(t *testing.T, s *stack) {
	t.Helper()
	for _, own := range s.seeded.Organisations {
		w.hide("a private key", own.PrivateKey)
		w.hide("a webhook secret", own.WebhookSecret)
	}
	maps.DeleteFunc(w.said, func(where string, _ []string) bool { return where != "a log" })
	w.report(t, len(s.seeded.Organisations), 1)
}

// TestTheLineOfEachFailureSaysWhatWhoseWhereAndWhy stages every failure that docs/operations.md lists, and looks for one line
// with all that is written there. What it stages is written there, and what is written there it stages.
func TestTheLineOfEachFailureSaysWhatWhoseWhereAndWhy(t *testing.T) {
	t.Parallel()
	listed, staged := documentedFailures(t), stagedFailures()
	names, told := slices.Sorted(maps.Keys(staged)), slices.Sorted(maps.Keys(listed))
	if !slices.Equal(names, told) {
		t.Errorf("staged are %q,\nin docs/operations.md there are %q", names, told)
	}
	seen := &seenFields{names: map[string]bool{}}
	t.Cleanup(func() { seen.checkQueries(t) })
	for name, stage := range staged {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				refusing, w := &amiss{}, newWiretap()
				s := newStack(t, options{log: w.logger, amiss: refusing.middleware, tap: w})
				stage(s, refusing)
				lines := s.lines()
				seen.note(lines)
				w.reportLogs(t, s)
				if !slices.ContainsFunc(lines, listed[name].isOn) {
					lines = slices.DeleteFunc(lines, func(line map[string]any) bool { return line["msg"] != listed[name].message })
					t.Errorf("no line has %v; of %s there are", listed[name].fields, listed[name].message)
					for _, line := range lines[max(len(lines)-4, 0):] {
						t.Log(line)
					}
				}
			})
		})
	}
}
