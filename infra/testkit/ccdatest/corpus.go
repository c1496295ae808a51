package ccdatest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// CorpusCase is a file in the corpus: a small document that exercises a single feature, and the FHIR resources that the
// guide requires for it. The file's format is golang.org/x/tools/txtar. The archive's comment begins with a line "Rule:
// " that names a row of the guide. The source is document.xml, section.xml or entry.xml. The optional files fhir.json,
// absent.txt and report.json contain the expected results.
type CorpusCase struct {
	Name     string // folder and file name, without extension
	Rule     string
	Document string
	Want     []map[string]any // every resource of each type that fhir.json contains
	Absent   []string         // resource types that must not occur, from absent.txt
	Report   map[string]any   // part of the DocumentReport, from report.json
}

// Corpus reads all case files (<folder>/<name>.txt) below root.
func Corpus(tb testing.TB, root fs.FS) []CorpusCase {
	tb.Helper()
	paths, err := fs.Glob(root, "*/*.txt")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no corpus: %v", err)
	}
	cases := make([]CorpusCase, 0, len(paths))
	for _, path := range paths {
		content, err := fs.ReadFile(root, path)
		if err != nil {
			tb.Fatal(err)
		}
		c, err := parseCase(content)
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		c.Name = strings.TrimSuffix(path, ".txt")
		cases = append(cases, c)
	}
	return cases
}

func parseCase(content []byte) (c CorpusCase, err error) {
	archive := txtar.Parse(content)
	rule, found := strings.CutPrefix(string(archive.Comment), "Rule: ")
	if !found {
		return c, fmt.Errorf("no line %q", "Rule: ")
	}
	c.Rule, _, _ = strings.Cut(rule, "\n")
	for _, f := range archive.Files {
		text := string(f.Data)
		switch f.Name {
		case "document.xml":
			c.Document = text
		case "section.xml":
			c.Document = corpusDocument(text)
		case "entry.xml":
			c.Document = corpusDocument("<section>" + text + "</section>")
		case "fhir.json":
			err = json.Unmarshal(f.Data, &c.Want)
		case "absent.txt":
			c.Absent = strings.Fields(text)
		case "report.json":
			err = json.Unmarshal(f.Data, &c.Report)
		default:
			err = fmt.Errorf("unknown part %q", f.Name)
		}
		if err != nil {
			return c, err
		}
	}
	if c.Document == "" {
		return c, errors.New("no source")
	}
	return c, nil
}

// corpusDocument returns a document that contains one patient, one author and the given section.
func corpusDocument(section string) string {
	return Document(
		`<recordTarget><patientRole><id root="2.16.840.1.113883.19.1" extension="p"/>
<patient><name><given>Robin</given><family>Sample</family></name></patient></patientRole></recordTarget>
<author><time value="20200102030405-0500"/>
<assignedAuthor><id root="2.16.840.1.113883.19.4" extension="document-author"/>
<assignedPerson><name><family>Writer</family></name></assignedPerson></assignedAuthor></author>
<custodian><assignedCustodian><representedCustodianOrganization><id root="2.16.840.1.113883.19.8"/>
<name>Sample Clinic</name></representedCustodianOrganization></assignedCustodian></custodian>`,
		`<structuredBody><component>`+section+`</component></structuredBody>`)
}

// Check converts the document and compares the resulting resources and report with the expected results.
func (c CorpusCase) Check(t *testing.T) {
	t.Helper()
	ndjson, report := Lines(t, []byte(c.Document))
	got := map[string][]map[string]any{}
	for line := range strings.Lines(string(ndjson)) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		kind, _ := r["resourceType"].(string)
		got[kind] = append(got[kind], r)
	}
	want := map[string][]map[string]any{}
	for _, r := range c.Want {
		kind, _ := r["resourceType"].(string)
		want[kind] = append(want[kind], r)
	}
	for kind, list := range want {
		checkType(t, kind, list, got[kind])
	}
	for _, kind := range c.Absent {
		if n := len(got[kind]); n > 0 {
			t.Errorf("%d %s, want none", n, kind)
		}
	}
	if c.Report != nil {
		if why := lacks(c.Report, generic(t, report.Documents[0])); why != "" {
			t.Errorf("report: %s", why)
		}
	}
	if t.Failed() {
		t.Logf("%s\nresources:\n%s", c.Rule, ndjson)
	}
}

// checkType matches each expected resource to a converted resource, and fails the test if any resource is missing or
// unexpected.
func checkType(t *testing.T, kind string, want, got []map[string]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d %s, want %d", len(got), kind, len(want))
	}
	for _, w := range want {
		var reasons []string
		at := slices.IndexFunc(got, func(g map[string]any) bool {
			why := lacks(w, g)
			reasons = append(reasons, why)
			return why == ""
		})
		if at < 0 {
			t.Errorf("no %s as expected:\n  %s", kind, strings.Join(reasons, "\n  "))
			continue
		}
		got = slices.Delete(slices.Clone(got), at, at+1)
	}
}

// lacks describes the first difference between got and want, or returns "" if they match. Objects in got may have
// additional members, except members that are null in want. Arrays must have the same length.
func lacks(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		return lacksMember(want, got)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%v, want %v", got, want)
		}
		for i, w := range want {
			if why := lacks(w, list[i]); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
	default:
		if want != got {
			return fmt.Sprintf("%v, want %v", got, want)
		}
	}
	return ""
}

func lacksMember(want map[string]any, got any) string {
	object, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%v, want an object", got)
	}
	for name, w := range want {
		g, has := object[name]
		switch {
		case w == nil && has:
			return fmt.Sprintf("%s: %v, want it absent", name, g)
		case w == nil:
		default:
			if why := lacks(w, g); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}

func generic(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err = json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
