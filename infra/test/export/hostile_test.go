package exporttest_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/export"
)

// processBound is the worker process's memory limit in bytes, regardless of the server's responses.
const processBound = 128 << 20

// hostile is a FHIR server that generates and compresses its responses while sending them, to use little memory.
type hostile struct {
	pages   map[string]attack // attack for each requested resource type
	verbose bool              // sends a CapabilityStatement and a Patient resource of the maximum size
}

// attack is a malicious response to a search for a single resource type.
type attack struct {
	pages  int // number of pages; 0 means 1
	write  func(w io.Writer, page int)
	want   func(o export.TypeOutcome) bool // checks the type's outcome; nil if the type has none
	heavy  bool                            // whether the attack runs only in soak tests
	status int                             // error status to send with the written body; 0 for a normal page
}

// ServeHTTP implements http.Handler.
func (h hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, hostilePath)
	isContent := strings.HasPrefix(path, contents)
	if path != "metadata" && path != "Patient/p1" && !isContent && h.pages[path].write == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "application/fhir+json", "Content-Encoding": "gzip", "X-Long": strings.Repeat("h", 20<<10),
		"RateLimit-Limit": "9223372036854775807", "RateLimit-Remaining": "9223372036854775807",
		"RateLimit-Reset": "9223372036854775807",
	} {
		w.Header().Set(name, value)
	}
	if status := h.pages[path].status; status > 0 {
		w.WriteHeader(status)
	}
	packer, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // can't fail, because the level is valid
	out := bufio.NewWriterSize(packer, 64<<10)
	defer func() {
		_ = out.Flush() // fails only if the client has stopped reading
		_ = packer.Close()
	}()
	if isContent {
		fill(out, "c", 2<<20-32<<10)
		return
	}
	switch path {
	case "metadata":
		putf(out,
			`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"mode":"server",`+
				`"resource":[{"type":"Patient"}`)
		for name := range h.pages {
			putf(out, `,{"type":%q,"searchParam":[{"name":"patient"}]}`, name)
		}
		if h.verbose {
			fill(out, `,{"type":"Basic","searchParam":[{"name":"code"}]}`, large)
		}
		putf(out, `]}]}`)
	case "Patient/p1":
		putf(out, `{"resourceType":"Patient","id":"p1","identifier":[{}`)
		if h.verbose {
			fill(out, `,{"system":"a","value":"b"}`, large/2)
			putf(out, `],"link":[{}`)
			fill(out, `,{"other":{"reference":"Patient/p2"}}`, large/2)
		}
		putf(out, `]}`)
	default:
		if h.pages[path].status > 0 {
			h.pages[path].write(out, 0)
			return
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		putf(out, `{"resourceType":"Bundle","type":"searchset","entry":[{}`)
		h.pages[path].write(out, page)
		putf(out, `]`)
		if page+1 < h.pages[path].pages {
			putf(out, `,"link":[{"relation":"next","url":"http://%s%s%s?page=%d"}]`, r.Host, hostilePath, path, page+1)
		}
		putf(out, `}`)
	}
}

func putf(w io.Writer, format string, values ...any) { _, _ = fmt.Fprintf(w, format, values...) }

// fill writes repeated copies of text, about size bytes in total.
func fill(w io.Writer, text string, size int) {
	piece := strings.Repeat(text, 1+(16<<10)/len(text))
	for ; size > 0; size -= len(piece) {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

// one writes the beginning of an entry with one of the patient's resources, up to the value of member.
func one(w io.Writer, resourceType string, id any, member string) {
	putf(w, `,{"resource":{"resourceType":%q,"id":"%v","subject":{"reference":"Patient/p1"},"%s":`,
		resourceType, id, member)
}

// contents is the path of the maximum-size attachments that are read ahead.
const contents = "contents/"

// large is slightly below a page's maximum size.
const large = 31 << 20

// attacks returns every attack, keyed by affected resource type.
func attacks() map[string]attack {
	is := func(results ...export.Outcome) func(export.TypeOutcome) bool {
		return func(o export.TypeOutcome) bool { return slices.Contains(results, o.Result) }
	}
	cut := func(o export.TypeOutcome) bool { return o.Result == export.OutcomeTruncated && o.Missing > 0 }
	return map[string]attack{
		// A gzip bomb.
		"AllergyIntolerance": {want: is(export.OutcomeFailed), write: func(w io.Writer, _ int) { fill(w, " ", 1<<30) }},
		// Ten million entries.
		"Device": {want: is(export.OutcomeFailed), write: func(w io.Writer, _ int) { fill(w, ",{}", large) }, heavy: true},
		// Deeply nested JSON.
		"Encounter": {want: is(export.OutcomeFailed), write: func(w io.Writer, _ int) {
			one(w, "Encounter", 1, "x")
			fill(w, "[", 1<<20)
		}},
		// An error response whose body never ends.
		"FamilyMemberHistory": {
			want: is(export.OutcomeDenied), status: http.StatusForbidden,
			write: func(w io.Writer, _ int) {
				putf(w, `{"resourceType":"OperationOutcome","issue":[{}`)
				fill(w, `,{"code":"`+strings.Repeat("c", 100)+`","diagnostics":"denied"}`, large)
				putf(w, `]}`)
			},
		},
		"Goal": {want: is(export.OutcomeOK), pages: 2, write: manyResources("Goal")},
		"Immunization": {want: is(export.OutcomeOK), write: func(w io.Writer, _ int) { // one resource that fills a page
			one(w, "Immunization", 1, "x")
			putf(w, `"`)
			fill(w, "x", large)
			putf(w, `"}}`)
		}},
		// a resource ID so long that it fills a page
		"Procedure": {want: is(export.OutcomeOK), heavy: true, write: func(w io.Writer, _ int) {
			putf(w, `,{"resource":{"resourceType":"Procedure","subject":{"reference":"Patient/p1"},"id":"`)
			fill(w, `\u0041`, large)
			putf(w, `"}}`)
		}},
		"Condition": {want: cut, write: func(w io.Writer, _ int) { // two million references
			one(w, "Condition", 1, "x")
			putf(w, `[{}`)
			fill(w, `,{"reference":"ab"}`, large)
			putf(w, `]}}`)
		}},
		"CarePlan": {
			want: is(export.OutcomeOK), pages: 4, write: references("CarePlan", "Practitioner/%s-%d"),
			heavy: true,
		},
		"CareTeam": {
			want: is(export.OutcomeOK), pages: 21,
			write: references("CareTeam", "https://elsewhere.example/%s/Organization/%d"), heavy: true,
		},
		"ServiceRequest": {
			want: is(export.OutcomeOK), pages: 2,
			write: references("ServiceRequest", "https://elsewhere.example/%s/Organization/%d"),
		},
		"DocumentReference": {want: cut, pages: 3, write: addresses("DocumentReference", 12, 240<<10)},
		"DiagnosticReport": {
			want: is(export.OutcomeOK), pages: 20, write: addresses("DiagnosticReport", 150, 7<<10),
			heavy: true,
		},
		"Observation": {pages: 2, write: inventedTypes},
		// The page contains many attachments that can be read ahead.
		"Media": {want: is(export.OutcomeOK), heavy: true, write: func(w io.Writer, _ int) {
			for i := range 150 {
				one(w, "Media", i, "content")
				putf(w, `{"url":"%s%d"}}}`, contents, i)
			}
		}},
		"MedicationRequest": {
			want: is(export.OutcomeTruncated), pages: 60, write: manyResources("MedicationRequest"),
			heavy: true,
		},
		"Coverage": {want: is(export.OutcomeOK), pages: 4, heavy: true, write: func(w io.Writer, page int) {
			for i := range 120 {
				one(w, "Coverage", page*1000+i, "x")
				putf(w, `"`)
				fill(w, "x", 240<<10)
				putf(w, `"}}`)
			}
		}},
	}
}

func harmless(resourceType string) attack {
	return attack{
		want:  func(o export.TypeOutcome) bool { return o.Result == export.OutcomeOK && o.Count == 1 },
		write: func(w io.Writer, _ int) { one(w, resourceType, 1, "x"); putf(w, `1}}`) },
	}
}

func manyResources(resourceType string) func(io.Writer, int) {
	return func(w io.Writer, page int) {
		for i := range 20_000 {
			one(w, resourceType, fmt.Sprintf("%060d", page*20_000+i), "x")
			putf(w, `1}}`)
		}
	}
}

// references writes a resource with 70,000 different references.
func references(resourceType, format string) func(io.Writer, int) {
	return func(w io.Writer, page int) {
		for part := range 2 {
			one(w, resourceType, page*2+part, "x")
			putf(w, `[{}`)
			for i := range 35_000 {
				putf(w, `,{"reference":"`+format+`"}`, strings.Repeat("y", 40), page*70_000+part*35_000+i)
			}
			putf(w, `]}}`)
		}
	}
}

func addresses(resourceType string, resources, length int) func(io.Writer, int) {
	return func(w io.Writer, page int) {
		for i := range resources {
			one(w, resourceType, page*1000+i, "content")
			putf(w, `[{"attachment":{"contentType":"%s","url":"files/%d-%d/`, strings.Repeat("c", 1000), page, i)
			fill(w, "u", length-16<<10)
			putf(w, `"}}]}}`)
		}
	}
}

// inventedTypes writes 4,000 resources of types that do not exist in any FHIR release.
func inventedTypes(w io.Writer, page int) {
	for i := range 4000 {
		name := fmt.Sprintf("T%05d", page*4000+i)
		name = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return 'a' + r - '0'
			}
			return r
		}, name) + strings.Repeat("z", 50)
		one(w, name, 1, "x")
		putf(w, `1}}`)
	}
}

// TestHostileServerCannotExhaustMemoryAndIsReported checks that a hostile server can't make the worker exceed its
// memory limit, and that the outcome reports the server's failures. The test starts a process, so it doesn't run in
// parallel. A soak test runs each heavy attack separately. A long soak test runs every attack separately.
func TestHostileServerCannotExhaustMemoryAndIsReported(t *testing.T) {
	y := newProcessWorld(t, 0)
	all := attacks()
	together := hostile{pages: map[string]attack{}}
	for name, one := range all {
		if one.heavy && soaking() || soakingLong() {
			t.Run(name, func(t *testing.T) {
				// The first two types are readable because an export fails if it finds no records.
				y.withstand(t, hostile{pages: map[string]attack{
					name: one, "QuestionnaireResponse": harmless("QuestionnaireResponse"), "RelatedPerson": harmless("RelatedPerson"),
				}})
			})
		}
		if !one.heavy {
			together.pages[name] = one
		}
	}
	if soaking() {
		t.Run("many handovers", func(t *testing.T) { // each run hands over 75 seconds before its invocation times out
			newProcessWorld(t, 77*time.Second).withstand(t, hostile{pages: map[string]attack{
				"CarePlan": all["CarePlan"], "CareTeam": all["CareTeam"], "Goal": all["Goal"],
				"DiagnosticReport": all["DiagnosticReport"],
			}})
		})
		t.Run("a verbose server", func(t *testing.T) {
			y.withstand(t, hostile{pages: map[string]attack{"Goal": all["Goal"]}, verbose: true})
		})
	}
	task := y.withstand(t, together)
	if got := task.Stats.TotalByResourceType["Resource"]; got != 8000 {
		t.Errorf("%d resources of invented types are counted, want 8,000", got)
	}
	rows := slices.DeleteFunc(slices.Clone(task.Outcome),
		func(o export.TypeOutcome) bool { return o.Reason == export.LossUnsupported })
	if len(rows) > len(together.pages)+5 {
		t.Errorf("the outcome has %d rows", len(rows))
	}
}

// withstand exports from a hostile server and checks the worker's memory and the outcome.
func (y *processWorld) withstand(t *testing.T, server hostile) export.Task {
	t.Helper()
	task, peak := y.export(t, server)
	t.Logf("the process had %d MB at most for %v", peak>>20, task.Stats.TotalByResourceType)
	if peak > processBound {
		t.Errorf("the process had %d MB, want at most %d", peak>>20, processBound>>20)
	}
	total := 0
	for _, count := range task.Stats.TotalByResourceType {
		total += count
	}
	if total != task.Stats.TotalResources {
		t.Errorf("the types add up to %d resources of %d", total, task.Stats.TotalResources)
	}
	for name, attack := range server.pages {
		at := slices.IndexFunc(task.Outcome, func(o export.TypeOutcome) bool { return o.Type == name })
		if at < 0 || attack.want != nil && !attack.want(task.Outcome[at]) {
			t.Errorf("%s: the outcome tells %+v", name, task.Outcome[max(at, 0):at+1])
		}
	}
	return task
}
