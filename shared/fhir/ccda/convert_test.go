package ccda_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/testkit/ccdatest"
)

// publicFolder has whole documents of HL7 that are not part of the project.
const publicFolder = "../../../../shared/data/ccda"

// publicDocuments gives the documents of that folder, by name, or skips the test.
func publicDocuments(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob(publicFolder + "/*.xml")
	if err != nil || len(files) == 0 {
		tb.Skipf("no documents in %s", publicFolder)
	}
	documents := map[string][]byte{}
	for _, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		documents[strings.TrimSuffix(filepath.Base(file), ".xml")] = document
	}
	return documents
}

func TestEveryPublicDocumentConverts(t *testing.T) {
	t.Parallel()
	for name, document := range publicDocuments(t) {
		ndjson, _ := ccdatest.Lines(t, document)
		again, _ := ccdatest.Lines(t, document)
		if !bytes.Equal(ndjson, again) {
			t.Errorf("%s: two runs differ", name)
		}
		checkReferences(t, name, ndjson)
	}
}

// checkReferences finds references to what is not there, and ids that are there twice.
func checkReferences(t *testing.T, name string, ndjson []byte) {
	t.Helper()
	known := map[string]bool{}
	var all []map[string]any
	for line := range bytes.Lines(ndjson) {
		var resource map[string]any
		if err := json.Unmarshal(line, &resource); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id := resource["resourceType"].(string) + "/" + resource["id"].(string)
		if known[id] {
			t.Errorf("%s: %s twice", name, id)
		}
		known[id] = true
		all = append(all, resource)
	}
	var walk func(in string, v any)
	walk = func(in string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if to, ok := v["reference"].(string); ok && !known[to] && !strings.HasPrefix(to, "#") {
				t.Errorf("%s: %s refers to %s, which is not there", name, in, to)
			}
			for _, inner := range v {
				walk(in, inner)
			}
		case []any:
			for _, inner := range v {
				walk(in, inner)
			}
		}
	}
	for _, resource := range all {
		walk(resource["resourceType"].(string), resource)
	}
}

// enlarged repeats the sections of a document to a size, with other ids each time.
func enlarged(document []byte, size int) []byte {
	head, rest, _ := bytes.Cut(document, []byte("<structuredBody>"))
	body, foot, _ := bytes.Cut(rest, []byte("</structuredBody>"))
	ids := regexp.MustCompile(`<id root="[0-9a-f]{8}`)
	out := append(slices.Clone(head), "<structuredBody>"...)
	for i := 0; len(out) < size; i++ {
		out = append(out, ids.ReplaceAll(body, fmt.Appendf(nil, `<id root="%08x`, i))...)
	}
	return append(append(out, "</structuredBody>"...), foot...)
}

func BenchmarkConvert(b *testing.B) {
	document := publicDocuments(b)["transfer-summary"]
	for name, document := range map[string][]byte{"249KB": document, "2.5MB": enlarged(document, 2500<<10), "16MB": enlarged(document, 16<<20)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ccda.Convert(document, func(ccda.Resource) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkConvertLarge reports the live heap of documents of 50 MB, once they are read and once they are converted: of
// one section of narrative, and of 140,000 entries.
func BenchmarkConvertLarge(b *testing.B) {
	const size = 50 << 20
	paragraph := "<paragraph>" + strings.Repeat("some words of a narrative ", 40) + "</paragraph>"
	entry := numbered + `<code code="2345-7" codeSystem="2.16.840.1.113883.6.1" displayName="Glucose"/><effectiveTime value="20240101"/>` +
		`<value xsi:type="PQ" value="#" unit="mg/dL"/><statusCode code="completed"/></observation></entry>`
	for name, section := range map[string]func() string{
		"narrative": func() string { return sectionWith("", strings.Repeat(paragraph, size/len(paragraph)), "") },
		"entries":   func() string { return sectionWith("", "", repeatedly(size/len(entry), entry)) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var s ccda.Set
				if err := s.Add(amplified(piece{sections: section()})); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(liveMB(), "read-MB")
				first := true
				_, err := s.Emit(func(ccda.Resource) error {
					if first {
						b.ReportMetric(liveMB(), "converted-MB")
					}
					first = false
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// liveMB returns the size of the live heap.
func liveMB() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
