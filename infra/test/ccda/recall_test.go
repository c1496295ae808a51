package ccdatest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// minRecall is the minimum recall for each kind of fact.
const minRecall = 0.98

const (
	publicFolder = "../../../../shared/data/ccda"
	ownFolder    = "../../../shared/fhir/ccda/testdata"
)

// convert converts documents as one set and returns the resulting resources as NDJSON.
func convert(t *testing.T, documents ...[]byte) []byte {
	t.Helper()
	var set ccda.Set
	for _, d := range documents {
		if err := set.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	_, err := set.Emit(func(r ccda.Resource) error {
		out.Write(r.JSON)
		return out.WriteByte('\n')
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// count holds the number of facts of one kind and the facts that were not found.
type count struct {
	all  int
	lost []fact
}

func (c count) share() float64 {
	if c.all == 0 {
		return 1
	}
	return float64(c.all-len(c.lost)) / float64(c.all)
}

func recall(facts []fact, told []*content) map[measure]count {
	counts := map[measure]count{}
	for _, f := range facts {
		c := counts[f.measure]
		c.all++
		names := make([]string, 0, 2*len(f.about))
		for _, about := range f.about {
			names = append(names, namesOf(about)...)
		}
		if !slices.ContainsFunc(told, func(r *content) bool { return r.isAbout(names, f.held) && r.has(f) }) {
			c.lost = append(c.lost, f)
		}
		counts[f.measure] = c
	}
	return counts
}

// isAbout reports whether a resource has one of the codes. If held is set, the code may instead be in a referenced or
// referencing resource. If codes is empty, isAbout returns true.
func (told *content) isAbout(codes []string, held bool) bool {
	return len(codes) == 0 || slices.ContainsFunc(codes,
		func(code string) bool { return told.codes[code] || held && told.nearby[code] })
}

func (told *content) has(f fact) bool {
	return f.measure == ofCode || slices.ContainsFunc(f.want, func(want string) bool {
		switch f.measure {
		case ofTime, ofWriting:
			return slices.ContainsFunc(told.times, func(at string) bool {
				// a Goal can store only the date
				return sameTime(want, at) ||
					told.kind == "Goal" && len(want) >= len("20060102") && sameTime(want[:len("20060102")], at)
			})
		case ofStatus:
			return slices.ContainsFunc(told.status, func(s string) bool { return fits(told.kind, want, s) })
		case ofAuthor, ofPerformer:
			return told.names[want]
		case ofRange:
			return told.ranges[want]
		case ofValue:
			return want != "" && told.amounts[want]
		}
		return false
	})
}

type judged struct {
	name   string
	counts map[measure]count
}

func table(documents []judged) string {
	var text strings.Builder
	row := func(name string, counts map[measure]count) {
		fmt.Fprintf(&text, "\n%-32s", name)
		for _, m := range measures() {
			c := counts[m]
			fmt.Fprintf(&text, " %4d/%-4d %5.1f%%", c.all-len(c.lost), c.all, 100*c.share())
		}
	}
	fmt.Fprintf(&text, "\n%-32s", "")
	for _, m := range measures() {
		fmt.Fprintf(&text, " %-16s", m)
	}
	for _, d := range documents {
		row(d.name, d.counts)
	}
	row("all", total(documents))
	return text.String()
}

func total(documents []judged) map[measure]count {
	sum := map[measure]count{}
	for _, d := range documents {
		for m, c := range d.counts {
			s := sum[m]
			sum[m] = count{all: s.all + c.all, lost: append(s.lost, c.lost...)}
		}
	}
	return sum
}

// checkRecall fails the test if the recall for any kind of fact is below minRecall, and logs every missing fact.
func checkRecall(t *testing.T, name string, counts map[measure]count) {
	t.Helper()
	for _, m := range measures() {
		if c := counts[m]; c.share() < minRecall {
			t.Errorf("%s: %.1f %% of %s are told", name, 100*c.share(), m)
		}
		for _, f := range counts[m].lost {
			t.Logf("%s: lost %s %v of %v", name, m, f.want, f.about)
		}
	}
}

// documentsIn returns the sorted names of a folder's documents, and the documents by name.
func documentsIn(t *testing.T, folder string) ([]string, map[string][]byte) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.xml")
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	names := make([]string, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(file))
		documents[filepath.Base(file)] = text
	}
	return names, documents
}

func checkEach(t *testing.T, names []string, documents map[string][]byte) {
	t.Helper()
	all := make([]judged, 0, len(names))
	for _, name := range names {
		all = append(all,
			judged{name, recall(factsOf(readXML(t, documents[name])), contentOf(t, convert(t, documents[name])))})
		checkRecall(t, name, all[len(all)-1].counts)
	}
	t.Log(table(all))
}

func TestConvertKeepsCodedFactsOfPublicDocuments(t *testing.T) {
	t.Parallel()
	names, documents := documentsIn(t, publicFolder)
	if len(names) == 0 {
		t.Skip("no " + publicFolder)
	}
	checkEach(t, names, documents)
}

// TestConvertKeepsCodedFactsOfDocumentsInConfiguredFolder checks the documents in the folder that
// RECORDBRIDGE_DOCUMENTS specifies. The test is skipped if the variable is not set.
func TestConvertKeepsCodedFactsOfDocumentsInConfiguredFolder(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("RECORDBRIDGE_DOCUMENTS")
	if folder == "" {
		t.Skip("RECORDBRIDGE_DOCUMENTS names no folder")
	}
	names, documents := documentsIn(t, folder)
	checkEach(t, names, documents)
}

func TestConvertKeepsCodedFactsOfTestDocuments(t *testing.T) {
	t.Parallel()
	names, documents := documentsIn(t, ownFolder)
	checkEach(t, names, documents)
}
