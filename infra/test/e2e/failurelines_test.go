package e2e_test

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/docs"
	"recordbridge/infra/ctl/explain"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/logx"
)

// documentedFailures returns the table in docs/operate/failures.md, and its rows by name. A row without a mode gets the
// mode "test", in which tests produce the failures.
func documentedFailures(t *testing.T) (explain.Table, map[string]explain.Failure) {
	t.Helper()
	table, err := explain.NewTable(docs.Failures())
	expect.NoError(t, err)
	all := map[string]explain.Failure{}
	for _, row := range table.Failures() {
		if row.Fields = maps.Clone(row.Fields); row.Fields["mode"] == "" {
			row.Fields["mode"] = "test"
		}
		all[row.Name] = row
	}
	return table, all
}

// isOn reports whether a log line matches a documented failure.
func isOn(row explain.Failure, line explain.Line) bool {
	for name, documented := range row.Fields {
		if !line.Agrees(name, documented) {
			return false
		}
	}
	_, isAtAHost := row.Fields["host"]
	at := host
	if strings.HasPrefix(row.Fields["msg"], "webhookworker.") {
		at = customer
	}
	return !isAtAHost || line.Fields["host"] == strings.TrimPrefix(at, "http://")
}

// lines returns the functions' log lines, redacted as in production.
func (s *stack) lines() []string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(strings.Lines(s.logs.String()))
}

// awsFailure makes all calls to one AWS operation fail.
type awsFailure struct {
	service, operation string
	code               string // error code, or noAnswer; if empty, no call fails
}

// noAnswer makes an AWS service break connections instead of responding.
const noAnswer = "no_answer"

func (a *awsFailure) middleware(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		if a.code == "" || c.Service != a.service || c.Operation != a.operation {
			next(w, r, c)
			return
		}
		if a.code == noAnswer {
			panic(http.ErrAbortHandler)
		}
		wire.WriteJSONError(w, "1.0", &wire.Error{Code: a.code, Message: "The level of configured throughput was exceeded."})
	}
}

// logger redacts log lines as the production logger does. It also records the unredacted lines, so that tests detect
// secrets that only redaction hides.
func (w *wiretap) logger(out io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(logx.New(out).Handler(), slog.NewJSONHandler(noted{w}, nil)))
}

type noted struct{ wiretap *wiretap }

func (n noted) Write(line []byte) (int, error) {
	n.wiretap.note("a log", string(line))
	return len(line), nil
}

// reportLogs searches only the logs for secrets.
func (w *wiretap) reportLogs(t *testing.T, s *stack) {
	t.Helper()
	for _, own := range s.seeded.Organisations {
		w.hide("a private key", own.PrivateKey)
		w.hide("a webhook secret", own.WebhookSecret)
	}
	maps.DeleteFunc(w.said, func(where string, _ []string) bool { return where != "a log" })
	w.report(t, len(s.seeded.Organisations), 1)
}

// TestFailuresProduceDocumentedLogLines produces every failure in docs/operate/failures.md. Each failure must log a
// line with all documented fields, and ctl must identify that line as the same failure. Every documented failure must
// have exactly one stage, and vice versa.
func TestFailuresProduceDocumentedLogLines(t *testing.T) {
	t.Parallel()
	table, listed := documentedFailures(t)
	staged := stagedFailures()
	names, told := slices.Sorted(maps.Keys(staged)), slices.Sorted(maps.Keys(listed))
	if !slices.Equal(names, told) {
		t.Errorf("staged are %q,\nin docs/operate/failures.md there are %q", names, told)
	}
	seen := &seenFields{names: map[string]bool{}}
	if !testing.Short() {
		t.Cleanup(func() { seen.checkQueries(t) })
	}
	for _, name := range sampleIfShort(names) {
		perform := staged[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				refusing, w := &awsFailure{}, newWiretap()
				s := newStack(t, options{log: w.logger, middleware: refusing.middleware, tap: w})
				perform(s, refusing)
				lines := s.lines()
				seen.note(t, lines)
				w.reportLogs(t, s)
				checkTold(t, table, listed[name], lines)
			})
		})
	}
}

// checkTold checks that a log line matches row, and that ctl explain identifies the line as that failure.
func checkTold(t *testing.T, table explain.Table, row explain.Failure, lines []string) {
	t.Helper()
	var near []string
	for _, text := range lines {
		line, err := explain.ReadLine(text)
		expect.NoError(t, err)
		if isOn(row, line) {
			if explained := table.Explain(line); !line.Failed() || explained.What != row.Name {
				t.Errorf("a failure: %t, explained as %q: %s", line.Failed(), explained.What, text)
			}
			return
		}
		if line.Fields["msg"] == row.Fields["msg"] {
			near = append(near, text)
		}
	}
	t.Errorf("no line has %v; of %s there are", row.Fields, row.Fields["msg"])
	for _, text := range near[max(len(near)-4, 0):] {
		t.Log(text)
	}
}
