package exporttest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// library is a FHIR server that uses almost no CPU time because all pages are built in advance.
type library struct {
	metadata  []byte
	pages     map[string][]byte // response bodies by URL, relative to the base URL
	resources int
}

const (
	libraryPages = 250
	libraryPage  = 100
)

// newLibrary returns a library whose pages contain as many Observations as fit. Each Observation is about as long as
// those of the sandbox.
func newLibrary() *library {
	l := &library{
		pages: map[string][]byte{"Patient/p1": []byte(`{"resourceType":"Patient","id":"p1"}`)},
		metadata: []byte(`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"mode":"server","resource":[` +
			`{"type":"Observation","searchParam":[{"name":"patient"}]}]}]}`),
		resources: 1,
	}
	for number := range libraryPages {
		var page bytes.Buffer
		page.WriteString(`{"resourceType":"Bundle","type":"searchset","total":25000,"entry":[`)
		for i := range libraryPage {
			if i > 0 {
				page.WriteByte(',')
			}
			fmt.Fprintf(&page, `{"fullUrl":"%[1]s/Observation/o%[2]d","resource":{"resourceType":"Observation","id":"o%[2]d",`+
				`"meta":{"versionId":"1","lastUpdated":"2026-03-01T06:00:00Z"},"status":"final","category":[{"coding":[{"system":`+
				`"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs","display":"Vital Signs"}]}],`+
				`"code":{"coding":[{"system":"http://loinc.org","code":"8867-4","display":"Heart rate"}],"text":"Heart rate"},`+
				`"subject":{"reference":"Patient/p1"},"effectiveDateTime":"2026-03-01T06:00:00Z","performer":[{"reference":`+
				`"#none"}],"valueQuantity":{"value":72.5,"unit":"/min","system":"http://unitsofmeasure.org","code":"/min"}},`+
				`"search":{"mode":"match"}}`, archiveBase, number*libraryPage+i)
			l.resources++
		}
		page.WriteString(`]`)
		if number+1 < libraryPages {
			fmt.Fprintf(&page, `,"link":[{"relation":"next","url":"%s/Observation?page=%d"}]`, archiveBase, number+1)
		}
		page.WriteString(`}`)
		address := fmt.Sprintf("Observation?page=%d", number)
		if number == 0 {
			address = "Observation?_count=100&patient=p1"
		}
		l.pages[address] = page.Bytes()
	}
	return l
}

// Do implements smart.Doer.
func (l *library) Do(r *http.Request) (*http.Response, error) {
	address := strings.TrimPrefix(r.URL.RequestURI(), "/archive/")
	page := l.pages[address]
	status := http.StatusOK
	if address == "metadata" {
		page = l.metadata
	} else if page == nil {
		status = http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/fhir+json"}}, ContentLength: int64(len(page)),
		Body: io.NopCloser(bytes.NewReader(page)),
	}, nil
}

// BenchmarkExport measures the engine, the reader and the scanner during a complete export of 25,001 resources from a
// fast server. The benchmark discards the exported file. The target is 25,000 resources per second.
func BenchmarkExport(b *testing.B) {
	source := newLibrary()
	var written shredder
	for b.Loop() {
		if task := exportOf(b, source, archiveBase, &written); task.Stats.TotalResources != source.resources {
			b.Fatalf("%d resources, want %d", task.Stats.TotalResources, source.resources)
		}
	}
	b.ReportMetric(float64(source.resources)*float64(b.N)/b.Elapsed().Seconds(), "resources/s")
	b.SetBytes(written.bytes / int64(b.N))
}
