package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/capacity/journey"
	"recordbridge/shared/testkit/expect"
)

const (
	templateFile = "../../template.yaml"
	scaling      = "../../docs/scaling.md"
)

func usual() deployment { return deployment{file: templateFile, parameters: nil} }

// loaded is a model with the usual load but for some flags.
func loaded(t *testing.T, from deployment, args ...string) *model {
	t.Helper()
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	var l load
	l.bind(flags)
	expect.NoError(t, flags.Parse(args))
	m, err := newModel(l, from)
	expect.NoError(t, err)
	return m
}

func TestTheFiguresOfTheDocumentAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(scaling)
	expect.NoError(t, err)
	if found := bytes.Count(text, []byte(prompt)); found < 4 {
		t.Errorf("%s has %d blocks of the command, want one for each size and the journeys", scaling, found)
	}
	fresh, err := renew(text, templateFile)
	expect.NoError(t, err)
	if diff := cmp.Diff(string(text), string(fresh)); diff != "" {
		t.Errorf("make docs writes it (-document +command):\n%s", diff)
	}
}

func TestEveryJourneyThatIsCountedIsInTheLoad(t *testing.T) {
	t.Parallel()
	m := loaded(t, usual())
	counted := map[string]bool{}
	for _, c := range m.table {
		if c.Journey != "cold start" && c.Journey != "kept" {
			counted[c.Journey] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(counted)), slices.Sorted(maps.Keys(m.load.journeys()))); diff != "" {
		t.Errorf("journeys (-counted +in the load):\n%s", diff)
	}
}

func TestEveryFigureIsUsedAndTellsItsSource(t *testing.T) {
	t.Parallel()
	m := loaded(t, usual())
	_ = m.report(0)
	if missing := m.figures.missing(); missing != nil {
		t.Errorf("missing: %v", missing)
	}
	rows, err := csv.NewReader(bytes.NewReader(figuresFile)).ReadAll()
	expect.NoError(t, err)
	for _, row := range rows[1:] {
		if !m.figures.asked[row[0]] {
			t.Errorf("nothing uses %s", row[0])
		}
		if row[2] == "" || row[4] == "" {
			t.Errorf("%s does not say what it is and where it is from", row[0])
		}
	}
}

// What the service holds itself to is what its sources say: each such figure names the file and the text that stands there.
func TestFiguresOfOurOwnAreThoseOfTheSources(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(bytes.NewReader(figuresFile)).ReadAll()
	expect.NoError(t, err)
	found := 0
	for _, row := range rows {
		if !strings.HasPrefix(row[0], "own.") {
			continue
		}
		found++
		file, says, _ := strings.Cut(row[4], ": ")
		text, err := os.ReadFile("../../" + file)
		expect.NoError(t, err)
		if says == "" || !bytes.Contains(text, []byte(says)) {
			t.Errorf("%s: %s does not say %q any more", row[0], file, says)
		}
	}
	if found < 6 {
		t.Errorf("%d figures are our own, want at least 6", found)
	}
}

// What is told as the first limit is used up by that many times the load.
func TestTheFirstLimitIsReachedWhereItIsTold(t *testing.T) {
	t.Parallel()
	m := loaded(t, usual())
	first := m.limits()[0]
	grown := *m
	grown.load.connections *= first.at()
	grown.load.exports, grown.load.connects = m.load.exports*first.at(), m.load.connects*first.at()
	grown.load.webhooks, grown.load.searches = m.load.webhooks*first.at(), m.load.searches*first.at()
	if got := grown.limits()[0]; got.name != first.name || math.Abs(got.used/got.most-1) > 0.01 {
		t.Errorf("at %v times the load %s uses %v of %v", first.at(), got.name, got.used, got.most)
	}
}

func TestLimitsOfOurOwnAreThoseOfTheTemplate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(templateFile)
	expect.NoError(t, err)
	file := filepath.Join(t.TempDir(), "template.yaml")
	text = regexp.MustCompile(`ThrottlingRateLimit: \d+`).ReplaceAll(text, []byte("ThrottlingRateLimit: 1234"))
	expect.NoError(t, os.WriteFile(file, text, 0o600))
	given, err := readParameters("KeyedRequestsPerMinute=700 ExportConcurrency=77 ReservedConcurrency=7 LogRetentionDays=30 ExportRetention=216h")
	expect.NoError(t, err)
	m := loaded(t, deployment{file: file, parameters: given})
	most := map[string]float64{}
	for _, l := range m.limits() {
		most[l.name] = l.most
	}
	for name, want := range map[string]float64{
		"exportworker at once, MaximumConcurrency": 77, "connect at once, reserved concurrency": 7,
		"API requests a second, the stage's throttle":                           1234,
		"invocations at once, account, beside what is reserved":                 1000 - 5*7 - 6, // five functions of patients' paths, six schedules
		"keyed requests a minute of the largest organisation, from one address": 700,
	} {
		if most[name] != want {
			t.Errorf("%s: at most %v, want %v", name, most[name], want)
		}
	}
	if m.stack.logDays != 30 || m.stack.fileDays != 9 {
		t.Errorf("logs are kept for %v days and files for %v, want 30 and 9", m.stack.logDays, m.stack.fileDays)
	}
}

// TestAJourneyCostsWhatItsCallsCost computes one by hand: a request with five reads, one of them of two units, and a write, which take
// 60 ms, 15 ms beside, of 256 MB, and a line of 300 bytes beside Lambda's 400.
func TestAJourneyCostsWhatItsCallsCost(t *testing.T) {
	t.Parallel()
	m := loaded(t, usual(), "-organisations", "0", "-cold", "0")
	row := journey.Cost{Journey: "status", Function: "getexport"}
	reads, write, invocation, line := row, row, row, row
	reads.Service, reads.Operation, reads.On, reads.Calls, reads.Reads = "dynamodb", "GetItem", "Work TASK", 5, 6
	write.Service, write.Operation, write.On, write.Calls, write.Writes = "dynamodb", "UpdateItem", "Flow RL", 1, 1
	invocation.Service, invocation.Operation, invocation.Calls = journey.Lambda, "Invoke", 1
	line.Service, line.Operation, line.Calls, line.Bytes = journey.Logs, "Line", 1, 300
	m.table = []journey.Cost{reads, write, invocation, line}
	got := total(m.running(m.used(map[string]float64{"status": 1}))) / daysOfAMonth
	want := 3.5e-6 + 0.2e-6 + 0.075*0.25*1.33334e-5 + 6*0.125e-6 + 0.625e-6 + 700*0.5e-9 + 0.05*5e-6
	if math.Abs(got/want-1) > 0.0001 {
		t.Errorf("it costs %v dollars, want %v", got, want)
	}
}

// TestNobodyCostsWhatStands: without a load there are keys, secrets, alarms, polls and schedules.
func TestNobodyCostsWhatStands(t *testing.T) {
	t.Parallel()
	m := loaded(t, usual()).idle()
	for _, line := range m.bill() {
		switch line.service {
		case "KMS keys":
			if line.dollars != float64(len(m.stack.Keys)) || line.dollars < 6 {
				t.Errorf("%v dollars for %d keys", line.dollars, len(m.stack.Keys))
			}
		case "SQS polling of queues with nothing in them": // 4 queues, 5 pollers, 3 polls a minute
			if want := 4 * 5 * 3 * 60 * 24 * daysOfAMonth * 0.4e-6; math.Abs(line.dollars-want) > 0.001 {
				t.Errorf("%v dollars for polls, want %v", line.dollars, want)
			}
		case "API Gateway", "Transfer of files to organisations", "DynamoDB storage and backup", "SES":
			if line.dollars != 0 {
				t.Errorf("%s: %v dollars for nobody", line.service, line.dollars)
			}
		}
	}
	if all := total(m.bill()); all < 8 || all > 60 {
		t.Errorf("an idle stack costs %v dollars a month", all)
	}
}
