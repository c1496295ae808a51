package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const exported = `{"resourceType":"Patient","id":"p1","name":[{"family":"Ferris"}],"gender":"female"}
{"resourceType":"Condition","id":"c1","subject":{"reference":"Patient/p1"},"code":{"text":"Asthma"}}
{"resourceType":"Observation","id":"o1","category":[{"coding":[{"code":"vital-signs"}]}]}
{"resourceType":"Immunization","id":"i1"}

`

// runTables runs recordbridge tables and returns its output.
func runTables(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command, out := newTool(t, newFeed(t))
	err := command.run(t.Context(), append([]string{"tables"}, args...))
	return out.String(), err
}

func store(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTablesWritesTableForEachView(t *testing.T) {
	t.Parallel()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write([]byte(exported)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	windows := strings.ReplaceAll(strings.TrimSpace(exported), "\n", "\r\n")
	for _, content := range []string{exported, compressed.String(), windows} {
		folder := filepath.Join(t.TempDir(), "new")
		out, err := runTables(t, "-out", folder, store(t, "record.ndjson", content))
		if err != nil {
			t.Fatal(err)
		}
		for name, rows := range map[string]string{
			"patients": "1 row", "encounters": "0 rows", "conditions": "1 row", "medications": "0 rows", "labs": "0 rows",
		} {
			if line := filepath.Join(folder, name+".csv") + "  " + rows + "\n"; !strings.Contains(out, line) {
				t.Errorf("output %q lacks %q", out, line)
			}
		}
		if got := read(t, folder, "conditions.csv"); !strings.Contains(got, "\nc1,p1,,,,,,,,Asthma,") {
			t.Errorf("conditions.csv: %s", got)
		}
	}
}

func TestTablesWritesParquet(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := runTables(t, "-format", "parquet", "-out", folder, store(t, "r", exported)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder, "labs.parquet"); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
		t.Error("labs.parquet isn't a Parquet file")
	}
}

func TestTablesWritesCollectionAsText(t *testing.T) {
	t.Parallel()
	view := store(t, "v.json", `{"name":"v","resource":"Patient","select":[{"column":[
		{"name":"ranks","path":"telecom.rank","collection":true,"type":"positiveInt"}]}]}`)
	record := store(t, "r", `{"resourceType":"Patient","telecom":[{"rank":1},{"rank":2}]}`)
	for _, format := range []string{"csv", "parquet"} {
		folder := t.TempDir()
		if _, err := runTables(t, "-format", format, "-out", folder, "-view", view, record); err != nil {
			t.Fatal(err)
		}
		if got := read(t, folder, "v."+format); !strings.Contains(got, "[1,2]") {
			t.Errorf("v.%s lacks the array: %q", format, got)
		}
	}
}

func TestTablesReportsBadLinesAndWritesTheRest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := store(t, "record.ndjson", `{"resourceType":"Patient","id":"p1"}
Ferris
[]
{"resourceType":"Patient","id":"p2"} {"a":"Ferris"}
{"resourceType":"Patient","id":"p3","gender":["Ferris","Gray"]}
{"resourceType":"Patient","id":"p4"}`)
	out, err := runTables(t, "-out", folder, "-view", "patients", path)
	if err == nil || !strings.Contains(err.Error(), "4 errors") {
		t.Errorf("error %v, want one about 4 errors", err)
	}
	for _, part := range []string{
		":2: the line isn't a JSON object\n", ":3: ", ":4: ", ":5: view patients: column gender: several values",
		"patients.csv  2 rows\n",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("output %q lacks %q", out, part)
		}
	}
	if strings.Contains(out, "Ferris") {
		t.Errorf("output %q contains data of the patient", out)
	}
	if got := read(t, folder, "patients.csv"); !strings.Contains(got, "\np1,") || !strings.Contains(got, "\np4,") {
		t.Errorf("patients.csv: %s", got)
	}
}

func TestTablesReportsAtMostTwentyLines(t *testing.T) {
	t.Parallel()
	out, err := runTables(t, "-out", t.TempDir(), store(t, "r", strings.Repeat("x\n", 30)))
	if err == nil || strings.Count(out, "isn't a JSON object") != 20 {
		t.Errorf("%v, output %s", err, out)
	}
}

func TestTablesUsesOwnView(t *testing.T) {
	t.Parallel()
	view := store(t, "immunizations.json", `{"name":"immunizations","resource":"Immunization",
		"select":[{"column":[{"name":"id","path":"id"}]}]}`)
	folder := t.TempDir()
	record := store(t, "r", exported)
	if _, err := runTables(t, "-out", folder, "-view", view, "-view", "patients", record); err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder, "immunizations.csv"); got != "id\ni1\n" {
		t.Errorf("immunizations.csv: %s", got)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("tables: %v, %v; want two", entries, err)
	}
	if _, err := runTables(t, "-out", folder, "-force", "-view", view, "-view", view, record); err == nil {
		t.Error("two views with the same name are accepted")
	}
}

func TestTablesLeavesNoFileAfterFailure(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, args := range [][]string{
		{filepath.Join(folder, "missing.ndjson")},
		{store(t, "broken.gz", "\x1f\x8bbroken")},
		{"-format", "xlsx", store(t, "r", exported)},
		{"-view", "missing.json", store(t, "r", exported)},
		{},
	} {
		if out, err := runTables(t, append([]string{"-out", folder}, args...)...); err == nil {
			t.Errorf("%v succeeded: %s", args, out)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestTablesKeepsExistingTableUnlessForced(t *testing.T) {
	t.Parallel()
	path := store(t, "labs.csv", "mine")
	folder, record := filepath.Dir(path), store(t, "r", exported)
	if _, err := runTables(t, "-out", folder, record); err == nil || !strings.Contains(err.Error(), "-force") {
		t.Errorf("error %v, want one that mentions -force", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || read(t, path) != "mine" {
		t.Errorf("entries %v, %v", entries, err)
	}
	if _, err := runTables(t, "-out", folder, "-force", record); err != nil || read(t, path) == "mine" {
		t.Errorf("-force: %v", err)
	}
}

func TestTablesPrintsBuiltinViews(t *testing.T) {
	t.Parallel()
	list, err := runTables(t, "-views")
	if err != nil || strings.Count(list, "\n") != 5 || !strings.Contains(list, "labs ") {
		t.Errorf("list: %s, %v", list, err)
	}
	if one, err := runTables(t, "-views", "labs"); err != nil || !strings.Contains(one, `"resource": "Observation"`) {
		t.Errorf("labs: %s, %v", one, err)
	}
	if _, err := runTables(t, "-views", "missing"); err == nil {
		t.Error("a missing view is accepted")
	}
}

func TestInputSkipsTooLongLine(t *testing.T) {
	t.Parallel()
	path := store(t, "r", "one\n"+strings.Repeat("x", 200_000)+"\nthree")
	var got []string
	err := eachLine(path, 100_000, func(_ int, line []byte, long bool) error {
		if long {
			line = []byte("long")
		}
		got = append(got, string(line))
		return nil
	})
	if want := "one|long|three"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("lines %v, %v; want %s", got, err, want)
	}
}

func TestTablesStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	command, _ := newTool(t, newFeed(t))
	err := command.run(ctx, []string{"tables", "-out", folder, store(t, "r", exported)})
	if entries, _ := os.ReadDir(folder); !errors.Is(err, errInterrupted) || len(entries) > 0 {
		t.Errorf("%v, left %v", err, entries)
	}
}
