package ccda_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

// inPieces converts a set of documents, reading them in pieces with the given number of nodes, and returns the NDJSON
// and the report. If nodes is 0, the documents are parsed as complete trees.
func inPieces(t *testing.T, nodes int, documents ...[]byte) (ndjson, report []byte) {
	t.Helper()
	var s ccda.Set
	s.ReadInPieces(nodes)
	for _, document := range documents {
		if err := s.Add(document); err != nil {
			t.Fatal(err)
		}
	}
	var lines bytes.Buffer
	said, err := s.Emit(func(r ccda.Resource) error {
		lines.Write(append(r.JSON, '\n'))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err = json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	return lines.Bytes(), report
}

// allDocuments returns the corpus documents, the project's own documents and the public documents, by name.
func allDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	all := wholeDocuments(t)
	for _, c := range ccdatest.Corpus(t, os.DirFS("testdata/corpus")) {
		all["corpus/"+c.Name] = []byte(c.Document)
	}
	for name, p := range amplifiers(20_000) {
		all["amplified/"+name] = amplified(p)
	}
	return all
}

func TestDocumentSetOutputDoesNotDependOnChunkSize(t *testing.T) {
	t.Parallel()
	for name, document := range allDocuments(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, wantReport := inPieces(t, 0, document)
			for _, nodes := range []int{1, 7, 64} {
				got, report := inPieces(t, nodes, document)
				if !bytes.Equal(got, want) {
					t.Errorf("pieces of %d nodes: %s", nodes, firstDifference(want, got))
				}
				if !bytes.Equal(report, wantReport) {
					t.Errorf("pieces of %d nodes: the report is %s, want %s", nodes, report, wantReport)
				}
			}
		})
	}
}

func TestDocumentSetOutputForSeveralDocumentsDoesNotDependOnChunkSize(t *testing.T) {
	t.Parallel()
	all := allDocuments(t)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return strings.Contains(name, "/") })
	documents := make([][]byte, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		documents = append(documents, all[name])
	}
	want, wantReport := inPieces(t, 0, documents...)
	got, report := inPieces(t, 5, documents...)
	if !bytes.Equal(got, want) || !bytes.Equal(report, wantReport) {
		t.Error(firstDifference(want, got))
	}
}

// firstDifference returns the first line in which want and got differ.
func firstDifference(want, got []byte) string {
	a, b := slices.Collect(bytes.Lines(want)), slices.Collect(bytes.Lines(got))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return "a line is\n" + string(b[i]) + "want\n" + string(a[i])
		}
	}
	return "the number of lines differs"
}

func TestConvertedEmitsSameLinesRepeatedly(t *testing.T) {
	t.Parallel()
	document := allDocuments(t)["alder.xml"]
	for _, nodes := range []int{0, 7} {
		want, _ := inPieces(t, nodes, document)
		var s ccda.Set
		s.ReadInPieces(nodes)
		if err := s.Add(document); err != nil {
			t.Fatal(err)
		}
		c := s.Convert()
		for range 2 {
			var got bytes.Buffer
			err := c.Emit(func(r ccda.Resource) error {
				got.Write(append(r.JSON, '\n'))
				return nil
			})
			if err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("pieces of %d nodes: %v, %s", nodes, err, firstDifference(want, got.Bytes()))
			}
		}
	}
}
