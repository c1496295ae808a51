package exporttest_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// scroll implements smart.Doer by simulating a FHIR server that returns one large page for each resource type. Each
// page is generated while clients read it and has no Content-Length header.
type scroll struct {
	types   []string
	bytes   int64 // approximate size of a page in bytes
	measure func()
}

func (s *scroll) Do(r *http.Request) (*http.Response, error) {
	var body io.Reader
	switch path := strings.TrimPrefix(r.URL.Path, "/archive/"); path {
	case "metadata":
		listed := make([]string, 0, len(s.types))
		for _, name := range s.types {
			listed = append(listed, `{"type":"`+name+`","searchParam":[{"name":"patient"}]}`)
		}
		body = strings.NewReader(
			`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"mode":"server","resource":[` +
				strings.Join(listed, ",") + `]}]}`)
	case "Patient/p1":
		body = strings.NewReader(`{"resourceType":"Patient","id":"p1"}`)
	default:
		body = io.MultiReader(strings.NewReader(
			`{"resourceType":"Bundle","type":"searchset","entry":[{"resource":{"resourceType":"`+path+
				`","id":"one","text":{"status":"generated","div":"`), io.LimitReader(&scan{measure: s.measure, fill: 'x'}, s.bytes),
			strings.NewReader(`"}}}]}`))
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/fhir+json"}}, ContentLength: -1,
		Body: io.NopCloser(body),
	}, nil
}

// TestExportOfLargePagesUsesBoundedMemory measures the process's heap, so it does not run in parallel.
func TestExportOfLargePagesUsesBoundedMemory(t *testing.T) {
	if !soaking() {
		t.Skip("takes seconds: run make soak")
	}
	source := &scroll{types: []string{"Observation", "Condition", "Encounter", "Procedure", "Goal"}, bytes: 30 << 20}
	var peak uint64
	source.measure = func() {
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		peak = max(peak, memory.HeapAlloc)
	}
	synctest.Test(t, func(t *testing.T) {
		var written shredder
		task := exportOf(t, source, archiveBase, &written)
		if got, want := task.Stats.TotalResources, 1+len(source.types); got != want {
			t.Errorf("%d resources, want %d: %+v", got, want, task.Outcome)
		}
		if peak > heapBound {
			t.Errorf("the live heap reached %d MB, want at most %d", peak>>20, heapBound>>20)
		}
		t.Logf("largest live heap: %.1f MB, file of %d MB", float64(peak)/(1<<20), written.bytes>>20)
	})
}
