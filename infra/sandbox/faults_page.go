package sandbox

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

const (
	// largePageCount is the largest _count for which a page is not enlarged.
	largePageCount = 25
	// defaultPageCount is the default _count of a search.
	defaultPageCount = 50
	// deepLevels is the nesting depth of a deep-json entry.
	deepLevels = 100_000
	// bombMembers is the uncompressed size of a gzip bomb in MiB.
	bombMembers = 1024
)

// Placeholders in an encoded page for content that encoding/json can't produce.
const (
	markNarrative = "mark of a large narrative"
	markDeep      = "mark of a deep value"
	markBytes     = "mark of bytes that are not UTF-8"
)

// addEntries adds to a page entries that a client must either discard or avoid processing twice.
func (q fhirRequest) addEntries(bundle map[string]any) {
	entries, _ := bundle["entry"].([]any)
	if q.with.Has(switches.DuplicateEntries) {
		twice := make([]any, 0, 2*len(entries))
		for _, one := range entries {
			twice = append(twice, one, one)
		}
		entries = twice
	}
	own := q.resourceType
	if q.op == opEverything {
		own = "Basic"
	}
	add := func(resourceType, id string, resource map[string]any) {
		resource["id"] = id
		if resourceType != "" {
			resource["resourceType"] = resourceType
		}
		entries = append(entries, map[string]any{
			"fullUrl": q.base + "/fhir/" + own + "/" + id, "resource": resource, "search": map[string]any{"mode": "match"},
		})
	}
	if q.with.Has(switches.InvalidEntry) {
		add("", "sandbox-without-type", map[string]any{"status": "unknown"})
	}
	if q.with.Has(switches.DeepJSON) {
		add(own, "sandbox-deep", map[string]any{"extension": markDeep})
	}
	if q.with.Has(switches.InvalidUTF8) {
		add(own, "sandbox-not-utf8", map[string]any{"language": markBytes})
	}
	asksObservations := q.resourceType == "Observation" || q.op == opEverything
	if q.with.Has(switches.OtherPatient) && asksObservations && !q.continued {
		add("Observation", "sandbox-other-patient", map[string]any{
			"status": "final", "code": map[string]any{"text": "Another person's measurement"},
			"subject": map[string]any{"reference": "Patient/sandbox-somebody-else"},
		})
	}
	if len(entries) > 0 {
		bundle["entry"] = entries
	}
}

// addNarrative enlarges a page's first resource if the requested _count is too large.
func (q fhirRequest) addNarrative(bundle map[string]any) {
	count := defaultPageCount
	if asked, err := strconv.Atoi(q.query.Get("_count")); err == nil {
		count = asked
	}
	if !q.with.Has(switches.PageLarge) || q.continued || count <= largePageCount {
		return
	}
	if resources := resourcesIn(bundle); len(resources) > 1 {
		resources[1]["text"] = map[string]any{
			"status": "generated", "div": `<div xmlns="http://www.w3.org/1999/xhtml">` + markNarrative + `</div>`,
		}
	}
}

// sendPage replaces placeholders with content that encoding/json can't produce. Large content is written directly to
// the response, without buffering.
func (q fhirRequest) sendPage(answer *captured, raw []byte) {
	if q.with.Has(switches.GzipBomb) {
		answer.header.Set("Content-Encoding", "gzip")
		answer.generated = writeBomb

		return
	}
	deep := strings.Repeat("[", deepLevels) + strings.Repeat("]", deepLevels)
	raw = bytes.Replace(raw, []byte(strconv.Quote(markDeep)), []byte(deep), 1)
	raw = bytes.Replace(raw, []byte(markBytes), []byte("\xff\xfe\xc0\xaf"), 1)
	head, tail, isLarge := bytes.Cut(raw, []byte(markNarrative))
	_, _ = answer.body.Write(head)
	if size := q.with.Number(switches.PageLarge); isLarge {
		answer.generated = func(w io.Writer) {
			writeText(w, size)
			_, _ = w.Write(tail)
		}
	}
}

// writeBomb writes a Bundle that contains a 1 GiB string, compressed to about a megabyte. A reader concatenates the
// contents of the output's gzip members (RFC 1952 section 2.2). A 1 MiB gzip member is compressed once and written
// repeatedly.
func writeBomb(w io.Writer) {
	head, err := packed([]byte(`{"resourceType":"Bundle","type":"searchset","language":"`))
	if err != nil {
		return
	}
	middle, err := packed(bytes.Repeat([]byte("0"), mebibyte))
	if err != nil {
		return
	}
	tail, err := packed([]byte(`"}`))
	if err != nil {
		return
	}
	_, _ = w.Write(head)
	for range bombMembers {
		if _, err := w.Write(middle); err != nil {
			return
		}
	}
	_, _ = w.Write(tail)
}

// packed returns plain compressed as a complete gzip member.
func packed(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(plain); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("end a packed part: %w", err)
	}

	return out.Bytes(), nil
}
