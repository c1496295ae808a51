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

	"recordbridge/infra/testkit/ccdatest"
	"recordbridge/shared/fhir/ccda"
)

// publicFolder contains complete HL7 documents, which are not part of the project.
const publicFolder = "../../../../shared/data/ccda"

// publicDocuments returns the documents in publicFolder, keyed by name. publicDocuments skips the test if the folder is
// missing.
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

func TestConvertSucceedsForPublicDocuments(t *testing.T) {
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

// checkReferences fails the test if there are dangling references or duplicate ids.
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

// enlarged repeats a document's sections, with new ids, until it reaches the given size.
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
	for name, document := range map[string][]byte{
		"249KB": document, "2.5MB": enlarged(document, 2500<<10),
		"16MB": enlarged(document, 16<<20),
	} {
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

// BenchmarkConvertLarge measures the live heap for 50 MB documents, after parsing and after conversion.
func BenchmarkConvertLarge(b *testing.B) {
	for _, shape := range ccdatest.Shapes() {
		b.Run(shape, func(b *testing.B) {
			for b.Loop() {
				var s ccda.Set
				var document bytes.Buffer
				if err := ccdatest.WriteLarge(&document, shape, 50<<20); err != nil {
					b.Fatal(err)
				}
				if err := s.Add(document.Bytes()); err != nil {
					b.Fatal(err)
				}
				document = bytes.Buffer{}
				b.ReportMetric(liveMB(), "read-MB")
				lines := &firstWrite{do: func() { b.ReportMetric(liveMB(), "converted-MB") }}
				if _, err := s.WriteLines(lines); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// firstWrite calls do before the first write.
type firstWrite struct{ do func() }

func (f *firstWrite) Write(part []byte) (int, error) {
	if f.do != nil {
		f.do()
		f.do = nil
	}
	return len(part), nil
}

func liveMB() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
