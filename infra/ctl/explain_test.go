package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/docs"
	"recordbridge/infra/ctl/explain"
)

func failureRows(t *testing.T) []explain.Failure {
	t.Helper()
	table, err := explain.NewTable(docs.Failures())
	if err != nil {
		t.Fatal(err)
	}
	return table.Failures()
}

func lineOf(t *testing.T, row explain.Failure) string {
	t.Helper()
	fields := map[string]string{}
	for name, documented := range row.Fields {
		switch {
		case documented == "-":
			continue
		case name == "class" && strings.HasPrefix(documented, "…"): // "…" stands for any text around the value
			fields[name] = regexp.MustCompile("[A-Za-z]*" + strings.Trim(documented, "…") +
				"[A-Za-z]*Exception").FindString(docs.Failures())
		case strings.Trim(documented, "…") != "":
			fields[name] = strings.ReplaceAll(documented, "…", "")
		case name == "mode":
			fields[name] = "live"
		case strings.HasSuffix(name, "_id"):
			fields[name] = unknownID
		default:
			fields[name] = "anything"
		}
	}
	line, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// explained runs explain on input. It opens a stack only if the working directory or the arguments select one.
func explained(t *testing.T, input string, args ...string) (told []explain.Explanation, said string) {
	t.Helper()
	var out, about bytes.Buffer
	if err := run(t.Context(), append(args, "explain"),
		streams{input: strings.NewReader(input), out: &out, said: &about}); err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(&out); ; {
		var one explain.Explanation
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return told, about.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, one)
	}
}

// TestExplainSuggestsValidCommandsForEachFailure checks the explanation, links and suggested commands for every row in
// the table.
func TestExplainSuggestsValidCommandsForEachFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := failureRows(t)
	var input strings.Builder
	for _, row := range rows {
		fmt.Fprintln(&input, lineOf(t, row))
	}
	told, said := explained(t, input.String())
	if len(told) != len(rows) || !strings.HasSuffix(said,
		fmt.Sprintf("ctl: %d lines explained, 0 without a failure, 0 malformed\n", len(rows))) {
		t.Fatalf("%d of %d lines were explained: %s", len(told), len(rows), said)
	}
	for i, row := range rows {
		got := told[i]
		if got.What != row.Name || got.Do != row.Advice || got.Do == "" {
			t.Errorf("%s is told as %q: %q", row.Name, got.What, got.Do)
		}
		for _, name := range []string{"class", "unsent_class", "reason", "ended", "disabled"} {
			if value := row.Fields[name]; value != "" && value != "-" &&
				(!strings.Contains(got.Why[name], strings.Trim(value, "…")) || got.Means == "") {
				t.Errorf("%s: %s %s has no words in docs/operate/failures.md, or is left out", row.Name, name, value)
			}
		}
		for _, name := range []string{"host", "step", "endpoint_id", "row", "attribute", "unsent_to"} {
			if _, has := row.Fields[name]; has && got.Where[name] == "" {
				t.Errorf("%s: where is %v, without %s", row.Name, got.Where, name)
			}
		}
		if row.Fields["org_id"] == "" && (got.Whose["org_id"] != unknownID || len(got.Commands) == 0) {
			t.Errorf("%s: whose is %v, and the commands are %q", row.Name, got.Whose, got.Commands)
		}
		for _, line := range got.Commands {
			checkTaken(t, line)
		}
	}
}

// checkTaken checks a ctl command line as far as possible without a stack.
func checkTaken(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if words[0] != "ctl" {
		t.Errorf("%s is no command of ctl", line)
	}
	c, err := commands().find(words[1:])
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.declare(flags)
	if err = parse(flags, words[3:], false); err == nil {
		err = needed(flags, c.needs...)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

func TestExplainAdviceLinksToExistingDocuments(t *testing.T) {
	t.Parallel()
	document, found := regexp.MustCompile(`docs/[\w/.-]+\.md`), 0
	for _, row := range failureRows(t) {
		if strings.Contains(row.Advice, "](") || strings.Contains(row.Advice, "above") {
			t.Errorf("%s: %q leads nowhere outside the table", row.Name, row.Advice)
		}
		for _, name := range document.FindAllString(row.Advice, -1) {
			found++
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Errorf("%s: %v", row.Name, err)
			}
		}
	}
	if found == 0 {
		t.Error("no row leads to a runbook")
	}
}

// TestExplainOmitsUnknownFields explains many kinds of lines and checks that only known fields are
// printed.
func TestExplainOmitsUnknownFields(t *testing.T) {
	outputs := newStack(t)
	w := newWorld(t, outputs)
	known := `{"msg":"http.request","result":"failed","error":"svc_unavailable","step":"discovery","class":"tls",` +
		`"host":"portal.example","mode":"test",` +
		`"org_id":"` + w.org + `","endpoint_id":"` + w.endpoint + `","route":"/bridge/connect"` +
		`,"patient_name":"Ada","answer":{"text":"private"}}`
	unknown := strings.NewReplacer(w.org, unknownID, w.endpoint, "no id").Replace(known)
	told, said := explained(t, strings.Join([]string{
		"Ready.", "ConnectFunction | " + known, `{"msg":"http.request","status":200}`, `{"msg":`,
		"2026-11-22T16:00:00 " + unknown, known, unknown,
	}, "\n"), "-outputs", outputs)
	if len(told) != 4 {
		t.Fatalf("%d lines were explained: %s", len(told), said)
	}
	first := told[0]
	if first.Whose["organisation"] != "Alder" || first.Where["endpoint"] != "Maple Hospital" ||
		first.Where["function"] != "ConnectFunction" {
		t.Errorf("whose %v, where %v", first.Whose, first.Where)
	}
	if second := told[1]; second.Whose["organisation"] != "" || second.Where["endpoint"] != "" ||
		second.What != "discovery: TLS error" {
		t.Errorf("what nobody knows has names: %v, %v", second.Whose, second.Where)
	}
	if all := fmt.Sprint(told); strings.Contains(all, "Ada") || strings.Contains(all, "private") ||
		strings.Contains(all, "2026") {
		t.Errorf("more is told than is known: %s", all)
	}
	want := "ctl: stack of " + outputs + " in us-east-1\nctl: the name of organisation " + unknownID + " is omitted: "
	if !strings.HasPrefix(said, want) || strings.Count(said, "omitted") != 1 ||
		!strings.HasSuffix(said, "\nctl: 4 lines explained, 2 without a failure, 1 malformed\n") {
		t.Errorf("said is %q", said)
	}
}

func TestExplainRunsWithoutStack(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := failureRows(t)
	told, said := explained(t, lineOf(t, rows[0])+"\n"+lineOf(t, rows[1]))
	if len(told) != 2 || strings.Count(said, "ctl: names are omitted: no stack: there is no local run here") != 1 {
		t.Errorf("%d lines were explained, and said was %q", len(told), said)
	}
	// A line that does not report a failure can be explained without a stack.
	if told, said := explained(t, "Ready.\n"); len(told) != 0 ||
		said != "ctl: 0 lines explained, 1 without a failure, 0 malformed\n" {
		t.Errorf("%v, %q", told, said)
	}
	printed, _, err := attempt(t, "explain", "-line", writeFile(t, lineOf(t, rows[0])))
	if err != nil || !strings.Contains(printed, `"what": "`+rows[0].Name+`"`) {
		t.Errorf("of a file: %v, %s", err, printed)
	}
	for _, args := range [][]string{
		{"explain", "line"},
		{"explain", "-line="},
		{"-stack", "a", "-outputs", "b", "explain"},
	} {
		if _, _, err := attempt(t, args...); exitCode(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	}
	if usage, _, err := attempt(t, "explain", "-h"); err != nil ||
		!slices.Equal(strings.Fields(usage)[:4], []string{"usage:", "ctl", "explain", "[-line"}) {
		t.Errorf("%v, %s", err, usage)
	}
}

// TestExplainPrintsEachExplanationImmediately covers endless input such as the output of make run.
func TestExplainPrintsEachExplanationImmediately(t *testing.T) {
	t.Chdir(t.TempDir())
	row := failureRows(t)[0]
	lines, written := io.Pipe()
	read, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(t.Context(), []string{"explain"}, streams{input: lines, out: out, said: io.Discard})
		done <- errors.Join(err, lines.Close(), out.Close()) // closing both pipes prevents goroutine leaks
	}()
	if _, err := fmt.Fprintln(written, lineOf(t, row)); err != nil {
		t.Fatal(err)
	}
	var told explain.Explanation
	if err := json.NewDecoder(bufio.NewReader(read)).Decode(&told); err != nil || told.What != row.Name {
		t.Errorf("%v, %+v", err, told)
	}
	if err := errors.Join(written.Close(), <-done); err != nil {
		t.Error(err)
	}
}
