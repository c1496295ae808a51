package groundtruth_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// processBound is the memory that the worker's process may have, whatever a server sends.
const processBound = 128 << 20

// hostile is a health system that answers with whatever a case makes. It makes what it sends while it sends it.
type hostile struct {
	types   []string // that its statement lists; none for DocumentReference and Observation
	patient string   // members of the Patient
	pages   int      // of every search, 0 for 1
	packed  bool     // answers are gzipped
	// page writes the entries of a page, each behind the first with a comma before it.
	page func(w io.Writer, resourceType string, number int)
	// other answers all other requests; nil says that nothing is there.
	other func(w io.Writer, path string) bool
}

// ServeHTTP implements http.Handler.
func (h hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, hostilePath)
	types := h.types
	if types == nil {
		types = []string{"DocumentReference", "Observation"}
	}
	w.Header().Set("Content-Type", "application/fhir+json")
	var sink io.Writer = w
	if h.packed {
		w.Header().Set("Content-Encoding", "gzip")
		packer := gzip.NewWriter(w)
		defer packer.Close()
		sink = packer
	}
	out := bufio.NewWriterSize(sink, 64<<10)
	defer out.Flush()
	switch {
	case path == "metadata":
		fmt.Fprint(out, `{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","rest":[{"mode":"server","resource":[`)
		for i, name := range types {
			fmt.Fprintf(out, `%s{"type":%q,"searchParam":[{"name":"patient"}]}`, comma(i), name)
		}
		fmt.Fprint(out, `]}]}`)
	case path == "Patient/p1":
		fmt.Fprintf(out, `{"resourceType":"Patient","id":"p1"%s}`, h.patient)
	case strings.Contains(path, "/"):
		if h.other == nil || !h.other(out, path) {
			w.Header().Del("Content-Encoding")
			w.WriteHeader(http.StatusNotFound)
		}
	default:
		number, _ := strconv.Atoi(r.URL.Query().Get("page"))
		fmt.Fprint(out, `{"resourceType":"Bundle","type":"searchset","entry":[`)
		h.page(out, path, number)
		fmt.Fprint(out, `]`)
		if number+1 < h.pages {
			fmt.Fprintf(out, `,"link":[{"relation":"next","url":"http://%s%s%s?page=%d"}]`, r.Host, hostilePath, path, number+1)
		}
		fmt.Fprint(out, `}`)
	}
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// repeat writes text n times.
func repeat(w io.Writer, text string, n int) {
	for range n {
		io.WriteString(w, text)
	}
}

func TestMeasureHostile(t *testing.T) {
	y := newYard(t)
	k16 := strings.Repeat("x", 16<<10)
	zeros := strings.Repeat("0", 64<<10)
	four := []string{"Observation", "Condition", "Encounter", "Procedure", "DocumentReference", "Goal", "Immunization", "CarePlan"}
	cases := []struct {
		name string
		h    hostile
	}{
		{"small", hostile{page: func(w io.Writer, rt string, n int) { fmt.Fprintf(w, `{"resource":{"resourceType":%q,"id":"1","subject":{"reference":"Patient/p1"}}}`, rt) }}},
		{"gzipbomb", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) { repeat(w, zeros, 16<<10) }}},
		{"32MiB pages x8 types", hostile{types: four, packed: true, page: func(w io.Writer, rt string, n int) {
			for i := range 31 * 4 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":%q,"id":"%d","subject":{"reference":"Patient/p1"},"note":[{"text":"`, comma(i), rt, i)
				repeat(w, k16, 16)
				fmt.Fprint(w, `"}]}}`)
			}
		}}},
		{"4MiB pages x8 types", hostile{types: four, packed: true, pages: 20, page: func(w io.Writer, rt string, n int) {
			for i := range 15 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":%q,"id":"%d-%d","subject":{"reference":"Patient/p1"},"note":[{"text":"`, comma(i), rt, n, i)
				repeat(w, k16, 16)
				fmt.Fprint(w, `"}]}}`)
			}
		}}},
		{"million tiny", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			io.WriteString(w, `{}`)
			repeat(w, `,{}`, 999_999)
		}}},
		{"49999 tiny resources x 2 pages x 8", hostile{packed: true, types: four, pages: 2, page: func(w io.Writer, rt string, n int) {
			for i := range 49_999 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":%q,"id":"%d-%d","subject":{"reference":"Patient/p1"}}}`, comma(i), rt, n, i)
			}
		}}},
		{"refs one resource 32MiB", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"id":"1","subject":{"reference":"Patient/p1"},"x":[{}`, rt)
			repeat(w, `,{"reference":"a"}`, 31<<20/19)
			fmt.Fprint(w, `]}}`)
		}}},
		{"own refs 4MiB pages", hostile{packed: true, types: four, pages: 5, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"id":"%d","subject":{"reference":"Patient/p1"},"x":[{}`, rt, n)
			for i := range 90_000 {
				fmt.Fprintf(w, `,{"reference":"Practitioner/%s%d-%d"}`, rt, n, i)
			}
			fmt.Fprint(w, `]}}`)
		}}},
		{"foreign refs 21 x 70000", hostile{packed: true, pages: 21, types: []string{"Observation"}, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"id":"%d","subject":{"reference":"Patient/p1"},"x":[{}`, rt, n)
			for i := range 70_000 {
				fmt.Fprintf(w, `,{"reference":"https://elsewhere.example/%s/Practitioner/%d-%d"}`, strings.Repeat("y", 300), n, i)
			}
			fmt.Fprint(w, `]}}`)
		}}},
		{"attachments long", hostile{packed: true, pages: 40, types: []string{"DocumentReference"}, page: func(w io.Writer, rt string, n int) {
			for i := range 120 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":%q,"id":"%d-%d","subject":{"reference":"Patient/p1"},"content":[{"attachment":{"url":"files/%d-%d/`, comma(i), rt, n, i, n, i)
				repeat(w, k16, 15)
				fmt.Fprint(w, `"}}]}}`)
			}
		}}},
		{"8000 types", hostile{packed: true, types: []string{"Observation"}, page: func(w io.Writer, rt string, n int) {
			for i := range 8000 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":"T%s%s","id":"1"}}`, comma(i), letters(i), strings.Repeat("z", 50))
			}
		}}},
		{"giant single", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"id":"1","subject":{"reference":"Patient/p1"},"x":"`, rt)
			repeat(w, k16, 2040)
			fmt.Fprint(w, `"}}`)
		}}},
		{"long id", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"subject":{"reference":"Patient/p1"},"id":"`, rt)
			repeat(w, k16, 2040)
			fmt.Fprint(w, `"}}`)
		}}},
		{"no id", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"subject":{"reference":"Patient/p1"},"x":"`, rt)
			repeat(w, k16, 2040)
			fmt.Fprint(w, `"}}`)
		}}},
		{"deep", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"x":`, rt)
			repeat(w, `[`, 16<<20)
			repeat(w, `]`, 15<<20)
			fmt.Fprint(w, `}}`)
		}}},
		{"escaped strings", hostile{packed: true, types: four, page: func(w io.Writer, rt string, n int) {
			fmt.Fprintf(w, `{"resource":{"resourceType":%q,"subject":{"reference":"Patient/p1"},"id":"1","x":{"reference":"`, rt)
			repeat(w, `\u0041\u0042`, 31<<20/12)
			fmt.Fprint(w, `"}}}`)
		}}},
		{"500000 ids", hostile{packed: true, types: []string{"Observation"}, pages: 60, page: func(w io.Writer, rt string, n int) {
			for i := range 10_000 {
				fmt.Fprintf(w, `%s{"resource":{"resourceType":%q,"id":"%060d","subject":{"reference":"Patient/p1"}}}`, comma(i), rt, n*10_000+i)
			}
		}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			task, peak := y.export(t, c.h)
			n := len(task.Outcome)
			t.Logf("PEAK %-40s %4d MB  outcomes %d first %+v", c.name, peak>>20, n, task.Outcome[:min(3, n)])
		})
	}
}

func letters(i int) string {
	s := ""
	for range 6 {
		s += string(rune('a' + i%26))
		i /= 26
	}
	return s
}
