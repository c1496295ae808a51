package fhir_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir"
)

func TestParseBundleSplitsPageIntoResources(t *testing.T) {
	t.Parallel()
	page := `{
	  "resourceType": "Bundle", "type": "searchset", "total": 3,
	  "link": [ {"relation": "self", "url": "https://ehr.example/fhir/Observation"},
	            {"relation": "next", "url": "https://ehr.example/fhir?page=2"} ],
	  "entry": [
	    {"fullUrl": "x", "resource": {"resourceType": "Observation", "id": "1", "subject": {"reference": "Patient/p"}},
	     "search": {"mode": "match"}},
	    {"search": {"extension": [{"mode": "x"}], "mode": "outcome"}, "resource": {"resourceType": "Basic"}},
	    {"resource": {"resourceType": "OperationOutcome", "id": "no-mode"}},
	    {"resource": {"resourceType": "Observation", "id": "2", "note": "b" }},
	    {"resource": {"id": "no type"}}, {"resource": null}, {"resource": {"resourceType":"Basic","id":"1","id":"2"}},
	    {"response": {"status": "200"}}
	  ]}`
	got, err := fhir.ParseBundle([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 3 || got.Self != "https://ehr.example/fhir/Observation" ||
		got.Next != "https://ehr.example/fhir?page=2" || got.NextLost || got.Outcomes != 2 || got.Unusable != 3 ||
		got.Len != 2 {
		t.Errorf("ParseBundle = %+v", got)
	}
	want := []fhir.Resource{
		{
			Type: "Observation", ID: "1", References: []string{"Patient/p"},
			Subjects: []fhir.Subject{{Member: 1, Reference: "Patient/p"}},
			JSON:     []byte(`{"resourceType":"Observation","id":"1","subject":{"reference":"Patient/p"}}`),
		},
		{Type: "Observation", ID: "2", JSON: []byte(`{"resourceType":"Observation","id":"2","note":"b"}`)},
	}
	for range 2 { // All can be called repeatedly
		if diff := cmp.Diff(want, slices.Collect(got.All()), exportedFields()); diff != "" {
			t.Errorf("ParseBundle (-want +got):\n%s", diff)
		}
	}
}

func TestParseBundleAcceptsEmptyPage(t *testing.T) {
	t.Parallel()
	for raw, total := range map[string]int{
		`{"resourceType":"Bundle"}`:                          -1,
		`{"resourceType":"Bundle","total":0,"entry":[]}`:     0,
		`{"total":"many","resourceType":"Bundle","link":[]}`: -1,
		`{"total":-7,"resourceType":"Bundle"}`:               -1,
	} {
		got, err := fhir.ParseBundle([]byte(raw))
		if err != nil {
			t.Fatalf("ParseBundle(%s): %v", raw, err)
		}
		if got.Total != total || got.Next != "" || got.NextLost || got.Len+got.Outcomes+got.Unusable != 0 {
			t.Errorf("ParseBundle(%s) = %+v", raw, got)
		}
	}
}

func TestParseBundleRejectsInvalidPages(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"a web page":                 "<html></html>",
		"another resource":           `{"resourceType":"OperationOutcome"}`,
		"no resourceType":            `{"entry":[]}`,
		"entries that are no list":   `{"resourceType":"Bundle","entry":{"resource":{"resourceType":"Basic"}}}`,
		"an entry that is no object": `{"resourceType":"Bundle","entry":["x"]}`,
		"links that are no list":     `{"resourceType":"Bundle","link":{"relation":"next","url":"x"}}`,
		"entry twice":                `{"resourceType":"Bundle","entry":[],"entry":[]}`,
		"link twice":                 `{"resourceType":"Bundle","link":[],"link":[]}`,
		"resourceType twice":         `{"resourceType":"Basic","resourceType":"Bundle"}`,
		"a cut page":                 `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Basic"`,
		"text after the page":        `{"resourceType":"Bundle"}x`,
	} {
		if _, err := fhir.ParseBundle([]byte(page)); !errors.Is(err, fhir.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestParseBundleRejectsTooManyEntriesInBoundedMemory(t *testing.T) {
	t.Parallel()
	page := func(entries int) []byte {
		entry := `{"resource":{"resourceType":"A"}}`
		return []byte(`{"resourceType":"Bundle","entry":[` + strings.Repeat(entry+",", entries-1) + entry + `]}`)
	}
	if got, err := fhir.ParseBundle(page(50_000)); err != nil || got.Len != 50_000 {
		t.Errorf("50,000 entries: %d and %v", got.Len, err)
	}
	if _, err := fhir.ParseBundle(page(50_001)); !errors.Is(err, fhir.ErrTooMany) || !errors.Is(err, fhir.ErrInvalid) {
		t.Errorf("50,001 entries: %v, want ErrTooMany", err)
	}
}

func TestAppendToResourceJSONPreservesNextResource(t *testing.T) {
	t.Parallel()
	got, err := fhir.ParseBundle([]byte(`{"resourceType":"Bundle","entry":[
		{"resource":{"resourceType":"Basic","id":"1"}},{"resource":{"resourceType":"Basic","id":"2"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resources := slices.Collect(got.All())
	_ = append(resources[0].JSON, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"...)
	if text := string(resources[1].JSON); text != `{"resourceType":"Basic","id":"2"}` {
		t.Errorf("the second resource became %s", text)
	}
}

func references(value any) map[string]int {
	found := map[string]int{}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				if text, ok := member.(string); ok && name == "reference" {
					found[text]++
				}
				walk(member)
			}
		case []any:
			for _, element := range value {
				walk(element)
			}
		}
	}
	walk(value)
	return found
}

func TestParseBundleAgreesWithEncodingJSONOnSyntheaRecords(t *testing.T) {
	t.Parallel()
	page := syntheaPage(t)
	var want struct {
		Entry []struct{ Resource json.RawMessage }
	}
	if err := json.Unmarshal(page, &want); err != nil {
		t.Fatal(err)
	}
	got, err := fhir.ParseBundle(bytes.Clone(page))
	if err != nil {
		t.Fatal(err)
	}
	if got.Len != len(want.Entry) || got.Unusable != 0 {
		t.Fatalf("got %d resources and %d unusable, want %d", got.Len, got.Unusable, len(want.Entry))
	}
	for i, resource := range slices.Collect(got.All()) {
		var compact bytes.Buffer
		var decoded map[string]any
		if err := errors.Join(json.Compact(&compact, want.Entry[i].Resource),
			json.Unmarshal(want.Entry[i].Resource, &decoded)); err != nil {
			t.Fatal(err)
		}
		counted := map[string]int{}
		for _, reference := range resource.References {
			counted[reference]++
		}
		if !bytes.Equal(resource.JSON, compact.Bytes()) || resource.Type != decoded["resourceType"] ||
			resource.ID != decoded["id"] {
			t.Errorf("entry %d differs", i)
		}
		if diff := cmp.Diff(references(decoded), counted); diff != "" {
			t.Errorf("references of entry %d (-want +got):\n%s", i, diff)
		}
	}
}

// syntheaPage returns one Synthea record. If the Synthea data is not next to the repository, syntheaPage generates a
// page with the same structure.
func syntheaPage(tb testing.TB) []byte {
	tb.Helper()
	files, err := filepath.Glob("../../../shared/data/synthea/*.json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		entry := `{ "resource": { "resourceType": "Observation", "id": "o", "status": "final",
			"subject": { "reference": "urn:uuid:0" }, "valueQuantity": { "value": 63.2, "unit": "kg" } } }`
		return []byte(`{"resourceType":"Bundle","entry":[` + strings.Repeat(entry+",\n", 5000) + entry + `]}`)
	}
	file, err := os.Open(files[len(files)-1])
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	page, err := io.ReadAll(unpacked)
	if err != nil {
		tb.Fatal(err)
	}
	return page
}

func BenchmarkParseBundle(b *testing.B) {
	page := syntheaPage(b)
	work := make([]byte, len(page))
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		copy(work, page)
		if _, err := fhir.ParseBundle(work); err != nil {
			b.Fatal(err)
		}
	}
}
