package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

const ourDocuments = "../../shared/fhir/ccda/testdata"

// ctlHere runs a ctl command that needs no stack and returns its output and messages.
func ctlHere(t *testing.T, args ...string) (out, said string, err error) {
	t.Helper()
	var printed, told bytes.Buffer
	err = run(t.Context(), args, streams{input: strings.NewReader(""), out: &printed, said: &told})
	return printed.String(), told.String(), err
}

func TestCcdaPrintsResourcesAndReport(t *testing.T) {
	t.Parallel()
	alder, birch := filepath.Join(ourDocuments, "alder.xml"), filepath.Join(ourDocuments, "birch.xml")
	out, said, err := ctlHere(t, "ccda", alder, birch)
	if err != nil {
		t.Fatal(err)
	}
	var report ccda.Report
	if err = json.Unmarshal([]byte(said), &report); err != nil || len(report.Documents) != 2 {
		t.Fatalf("the report is %s (%v)", said, err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(out) {
		var resource struct {
			Type string `json:"resourceType"`
		}
		if err = json.Unmarshal([]byte(line), &resource); err != nil {
			t.Fatal(err)
		}
		counts[resource.Type]++
	}
	for kind, n := range report.Resources {
		if counts[kind] != n {
			t.Errorf("%d of %s are printed, %d reported", counts[kind], kind, n)
		}
	}
	if counts["Patient"] != 1 || counts["Composition"] != 2 || len(counts) != len(report.Resources) {
		t.Errorf("printed are %v", counts)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	again, said, err := ctlHere(t, "ccda", "-report", file, birch, alder)
	if written, readErr := os.ReadFile(file); err != nil || readErr != nil || said != "" || !json.Valid(written) {
		t.Errorf("%v, %v; said %q, wrote %.80q", err, readErr, said, written)
	}
	if again != out {
		t.Error("the order of the files matters")
	}
}

func TestCcdaConvertsRemainingFilesWhenOneIsInvalid(t *testing.T) {
	t.Parallel()
	alder, no := filepath.Join(ourDocuments, "alder.xml"), filepath.Join(t.TempDir(), "no.xml")
	if err := os.WriteFile(no, []byte("<html/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, _, err := ctlHere(t, "ccda", alder)
	if err != nil {
		t.Fatal(err)
	}
	out, said, err := ctlHere(t, "ccda", no, alder)
	if out != whole || !json.Valid([]byte(said)) || exitCode(err) != 1 || !strings.Contains(err.Error(), no) {
		t.Errorf("%d bytes of %d, exit code %d, %v", len(out), len(whole), exitCode(err), err)
	}
}

func TestCcdaDiffComparesFacts(t *testing.T) {
	t.Parallel()
	alder := filepath.Join(ourDocuments, "alder.xml")
	document, err := os.ReadFile(alder)
	if err != nil {
		t.Fatal(err)
	}
	edited := func(old, changed string) string {
		if strings.Count(string(document), old) == 0 {
			t.Fatalf("alder.xml has no %q", old)
		}
		file := filepath.Join(t.TempDir(), "edited.xml")
		if err = os.WriteFile(file, []byte(strings.Replace(string(document), old, changed, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	resources := filepath.Join(t.TempDir(), "alder.ndjson")
	printed, _, err := ctlHere(t, "ccda", alder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(resources, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	sameFacts := edited("5b1f0a60-0005-4a00-9a00-000000000002", "5b1f0a60-ffff-4a00-9a00-000000000002")
	for _, file := range []string{alder, resources, sameFacts} {
		if out, _, err := ctlHere(t, "ccda", "-diff", alder, file); err != nil || !strings.Contains(out, `"changed": []`) {
			t.Errorf("%s: %v, %s", filepath.Base(file), err, out)
		}
	}
	for _, test := range []struct{ old, changed, want string }{
		{`value="13.2" unit="g/dL"`, `value="13.3" unit="g/dL"`, `"before":["13.2"],"after":["13.3"]`},
		{`code="718-7"`, `code="718-8"`, `"removed":[{"type":"Observation","code":"http://loinc.org|718-7"`},
		{`code="718-7"`, `code="718-8"`, `"added":[{"type":"Observation","code":"http://loinc.org|718-8"`},
		{
			`<birthTime value="196104120715-0800"/>`, `<birthTime value="19610413"/>`,
			`"birthDate":{"before":["1961-04-12"],"after":["1961-04-13"]}`,
		},
	} {
		out, _, err := ctlHere(t, "ccda", "-diff", resources, edited(test.old, test.changed))
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(out)) != nil || exitCode(err) != 1 ||
			!strings.Contains(compact.String(), test.want) {
			t.Errorf("%s: exit code %d, %v; want %s in %s", test.changed, exitCode(err), err, test.want, out)
		}
	}
}

func TestCcdaDiffComparesFoldersByKind(t *testing.T) {
	t.Parallel()
	before, after := t.TempDir(), t.TempDir()
	write := func(folder, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	alder, err := os.ReadFile(filepath.Join(ourDocuments, "alder.xml"))
	if err != nil {
		t.Fatal(err)
	}
	printed, _, err := ctlHere(t, "ccda", filepath.Join(ourDocuments, "alder.xml"))
	if err != nil {
		t.Fatal(err)
	}
	condition := func(id, more string) string {
		return `{"resourceType":"Condition","id":"` + id + `","code":{"text":"` + id + `"}` + more + "}\n"
	}
	write(before, "alder.ndjson", printed)
	write(after, "alder.xml", string(alder))
	out, _, err := ctlHere(t, "ccda", "-diff", before, after)
	if err != nil || !strings.Contains(out, `"kinds": []`) {
		t.Errorf("a document differs from its resources: %v, %s", err, out)
	}
	write(before, "one.ndjson", condition("a", `,"recordedDate":"2020"`)+condition("b", `,"recordedDate":"2020"`)+
		condition("gone", ""))
	write(after, "one.ndjson", condition("a", `,"abatementString":"x"`)+condition("b", ""))
	write(before, "two.ndjson", condition("a", `,"recordedDate":"2020","onsetString":"x"`))
	write(after, "two.ndjson", condition("a", `,"onsetString":"y"`))
	write(before, "old.ndjson", "")
	write(after, "new.ndjson", "")
	write(after, "notes.txt", "not compared")
	out, _, err = ctlHere(t, "ccda", "-diff", before, after)
	var got bytes.Buffer
	if exitCode(err) != 1 || json.Compact(&got, []byte(out)) != nil {
		t.Fatalf("exit code %d, %v: %s", exitCode(err), err, out)
	}
	want := `{"documents":3,"different":2,"only_before":["old"],"only_after":["new"],"kinds":[` +
		`{"difference":"value removed","type":"Condition","path":"recordedDate","count":3,"documents":2,` +
		`"example":"one: a 2020 2020 -\u003e"},` +
		`{"difference":"fact removed","type":"Condition","count":1,"documents":1,"example":"one: gone"},` +
		`{"difference":"value added","type":"Condition","path":"abatementString","count":1,"documents":1,` +
		`"example":"one: a 2020 -\u003e x"},` +
		`{"difference":"value changed","type":"Condition","path":"onsetString","count":1,"documents":1,` +
		`"example":"two: a 2020 x -\u003e y"}]}`
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
}

func TestCcdaRejectsInvalidUsageWithoutOutput(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	notXML := filepath.Join(folder, "no.xml")
	if err := os.WriteFile(notXML, []byte("Willow Alder is not XML"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string
		code int
	}{
		{"ccda", 2},
		{"ccda -diff " + notXML, 2},
		{"ccda -diff -report x a b", 2},
		{"ccda -diff " + folder + " " + notXML, 2},
		{"ccda -diff " + t.TempDir() + " " + folder, 2},
		{"ccda " + notXML, 1},
		{"ccda -diff " + notXML + " " + notXML, 1},
		{"ccda " + filepath.Join(folder, "missing.xml"), 1},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(test.line), streams{
			input: strings.NewReader(""), out: &out,
			said: io.Discard,
		})
		if exitCode(err) != test.code || out.Len() > 0 || strings.Contains(err.Error(), "Willow") {
			t.Errorf("%s: exit code %d, %v, printed %q", test.line, exitCode(err), err, out.String())
		}
	}
}
