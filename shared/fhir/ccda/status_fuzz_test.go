package ccda_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

// FuzzStatementStatus adds nullFlavor, negationInd, statusCode, status observations, times and null names to a corpus
// document's statements, and checks that no resource asserts more than its statement.
func FuzzStatementStatus(f *testing.F) {
	corpus := ccdatest.Corpus(f, os.DirFS("testdata/corpus"))
	for i := range corpus {
		for kind := range byte(editKinds) { // covers each case with each kind of edit, and the corpus with all variants
			variant := byte(i*editKinds) + kind
			f.Add(uint16(i), []byte{variant, kind, variant, 1, (kind + 1) % editKinds, variant / 2}[:3+3*(i%2)])
		}
	}
	f.Fuzz(func(t *testing.T, at uint16, raw []byte) {
		document := readElements(t, corpus[int(at)%len(corpus)].Document)
		statements := numberAll(document, nil)
		for _, e := range edits(raw) {
			e.apply(statements)
		}
		var text strings.Builder
		document.write(&text)
		resources := convertAll(t, text.String())
		statements = renumbered(document, nil) // The edits may have added statements.
		if faults := judge(document, statements, resources); len(faults) > 0 {
			t.Errorf("%s: %s\n%s", corpus[int(at)%len(corpus)].Name, strings.Join(faults, "\n"), text.String())
			for _, r := range resources {
				line, _ := json.Marshal(r)
				t.Log(string(line))
			}
		}
	})
}

// renumbered returns the statements that already have numbers.
func renumbered(e *element, list []*element) []*element {
	if e.number != "" {
		list = append(list, e)
	}
	for _, c := range e.children {
		list = renumbered(c, list)
	}
	return list
}

func convertAll(t *testing.T, document string) []map[string]any {
	t.Helper()
	var list []map[string]any
	_, err := ccda.Convert([]byte(document), func(r ccda.Resource) error {
		var content map[string]any
		if err := json.Unmarshal(r.JSON, &content); err != nil {
			return err
		}
		list = append(list, content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
