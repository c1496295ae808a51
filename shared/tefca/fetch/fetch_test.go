package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/fetch"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

type network struct {
	tefca.Network

	listed []tefca.Document
	err    error
	bodies map[string]any // each document's content or error, by document ID
}

func (n network) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return n.listed, n.err
}

func (n network) Retrieve(_ context.Context, _ tefca.Assertion, _ tefca.Facility, of tefca.Document,
	_ int64,
) ([]byte, error) {
	switch body := n.bodies[of.ID].(type) {
	case []byte:
		return body, nil
	case error:
		return nil, fmt.Errorf("retrieve: %w", body)
	}
	return nil, tefca.ErrNotFound
}

func of(bodies map[string]any) network {
	n := network{bodies: bodies}
	for id := range bodies {
		n.listed = append(n.listed, tefca.Document{ID: id, Made: time.Unix(int64(len(n.listed)), 0)})
	}
	return n
}

// fenn returns the identity of the patient described by the document alder.
func fenn(t *testing.T) tefca.Assertion {
	t.Helper()
	known, ok := people.Named("alder.fenn@tefca.example")
	if !ok {
		t.Fatal("there is no such patient")
	}
	return tefca.Assertion{Person: known.Person}
}

func alder() []byte { return sim.Fixtures()["alder.xml"] }

func birch() []byte { return sim.Fixtures()["birch.xml"] }

func TestReaderCountsLossesByReason(t *testing.T) {
	t.Parallel()
	n := of(map[string]any{
		"good": alder(), "twice": alder(), "no XML": []byte("<html"), "gone": tefca.ErrNotFound, "refused": tefca.ErrRefused,
		"large":  tefca.ErrTooLarge,
		"broken": tefca.ErrContent, "silent": tefca.ErrUnavailable, "late": tefca.ErrIdentity, "another person's": birch(),
	})
	n.listed = append(n.listed, tefca.Document{ID: "a scan", Type: "application/pdf"})
	ctx, line := logx.Begin(t.Context())
	got, err := fetch.Reader{}.Read(ctx, n, fenn(t), tefca.Facility{ID: "urn:oid:2.999.1"})
	expect.NoError(t, err)
	var log bytes.Buffer
	line.Emit(ctx, logx.New(&log), "test")
	if lines := log.String(); strings.Count(lines,
		`"directory_id":"urn:oid:2.999.1","class":"other_person","documents":1}`) != 1 || strings.Contains(lines, "Birch") {
		t.Errorf("logged is %s", lines)
	}
	want := map[string]int{
		"invalid_content": 2, "not_found": 1, "refused": 1, "too_large": 1, "unavailable": 2,
		"other_person": 1, "unsupported": 1,
	}
	if got.Documents != 2 || !maps.Equal(got.Lost, want) {
		t.Errorf("%d documents, lost %v, want %v", got.Documents, got.Lost, want)
	}
	for range 2 { // repeating the conversion must yield the same result
		patients, resources := 0, 0
		expect.NoError(t, got.Resources(func(resource []byte) error {
			resources++
			if strings.HasPrefix(string(resource), `{"resourceType":"Patient"`) {
				patients++
			}
			return nil
		}))
		if patients != 1 || resources < 20 {
			t.Errorf("%d patients in %d resources", patients, resources)
		}
	}
}

func TestReaderCountsOversizedDocumentAsLost(t *testing.T) {
	t.Parallel()
	entry := `<entry><observation><value><originalText><reference value="all"/></originalText></value>` +
		`</observation></entry>`
	section := `<component><section><text><content ID="all">` + strings.Repeat("x", 100_000) + `</content></text>` +
		strings.Repeat(entry, 100) + `</section></component>`
	attack := bytes.Replace(alder(), []byte("<structuredBody>"), []byte("<structuredBody>"+section), 1)
	got, err := fetch.Reader{}.Read(t.Context(), of(map[string]any{"good": birch(), "attack": attack}), fenn(t),
		tefca.Facility{})
	expect.NoError(t, err)
	for range 2 {
		size := 0
		expect.NoError(t, got.Resources(func(resource []byte) error {
			size += len(resource)
			return nil
		}))
		if got.Documents != 1 || got.Lost["limit"] != 1 || size > 8*len(attack)+256<<10 {
			t.Errorf("%d documents became %d bytes, lost %v", got.Documents, size, got.Lost)
		}
	}
}

func TestReaderCountsPartlyConvertedDocumentAsLost(t *testing.T) {
	t.Parallel()
	goal := `<component><section><code code="61146-7" codeSystem="2.16.840.1.113883.6.1"/><entry>` +
		`<observation classCode="OBS" moodCode="GOL"><code code="29463-7" codeSystem="2.16.840.1.113883.6.1"/>` +
		`<effectiveTime value="20251399"/><effectiveTime value="20250101"/></observation></entry></section></component>`
	partial := bytes.Replace(alder(), []byte("<structuredBody>"), []byte("<structuredBody>"+goal), 1)
	nothing := `<component><section><code code="11450-4" codeSystem="2.16.840.1.113883.6.1"/><entry>` +
		`<observation classCode="OBS" moodCode="EVN" nullFlavor="NI">` +
		`<templateId root="2.16.840.1.113883.10.20.22.4.4"/><code code="ASSERTION"/><effectiveTime>` +
		`<low value="00010101"/></effectiveTime></observation></entry></section></component>`
	unstated := bytes.Replace(alder(), []byte("<structuredBody>"), []byte("<structuredBody>"+nothing), 1)
	for name, c := range map[string]struct {
		document []byte
		want     map[string]int
	}{
		"partial": {partial, map[string]int{"not_converted": 1}}, "whole": {alder(), map[string]int{}},
		"with a null statement": {unstated, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fetch.Reader{}.Read(t.Context(), of(map[string]any{"one": c.document}), fenn(t), tefca.Facility{})
			expect.NoError(t, err)
			for range 2 {
				expect.NoError(t, got.Resources(func([]byte) error { return nil }))
				if got.Documents != 1 || !maps.Equal(got.Lost, c.want) {
					t.Errorf("%d documents, lost %v, want %v", got.Documents, got.Lost, c.want)
				}
			}
		})
	}
}

func TestReaderFailsWhenNoDocumentIsRetrieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   network
		want error
	}{
		"no list":               {network{err: tefca.ErrRefused}, tefca.ErrRefused},
		"no document":           {of(map[string]any{"a": tefca.ErrUnavailable}), tefca.ErrUnavailable},
		"none that can be read": {of(map[string]any{"a": []byte("x")}), tefca.ErrContent},
		"another person's":      {of(map[string]any{"a": birch(), "b": birch()}), tefca.ErrOtherPerson},
		"an empty list":         {network{}, nil},
		"scans alone":           {network{listed: []tefca.Document{{ID: "a", Type: "IMAGE/jpeg"}}}, nil},
	} {
		got, err := fetch.Reader{}.Read(t.Context(), c.of, fenn(t), tefca.Facility{})
		if !errors.Is(err, c.want) || got.Documents != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	whole := of(map[string]any{"a": alder()})
	whole.err = tefca.ErrUnavailable
	if got, err := (fetch.Reader{}).Read(t.Context(), whole, fenn(t), tefca.Facility{}); err != nil ||
		got.Documents != 1 || got.Lost["unavailable"] != 1 {
		t.Errorf("a list that is not whole: %+v, %v", got, err)
	}
}

func TestReaderPrefersNewestDocuments(t *testing.T) {
	t.Parallel()
	bodies := map[string]any{}
	for i := range 203 {
		bodies[strconv.Itoa(i)] = tefca.ErrNotFound
	}
	n := of(bodies)
	bodies[n.listed[202].ID] = alder()
	got, err := fetch.Reader{}.Read(t.Context(), n, fenn(t), tefca.Facility{})
	expect.NoError(t, err)
	if got.Documents != 1 || got.Lost["limit"] != 3 || got.Lost["not_found"] != 199 {
		t.Errorf("%d documents, lost %v", got.Documents, got.Lost)
	}
	large := of(map[string]any{"a": alder()})
	large.listed[0].Size = 49 << 20
	if _, err := (fetch.Reader{}).Read(t.Context(), large, fenn(t), tefca.Facility{}); err != nil {
		t.Errorf("one beyond the bound: %v", err)
	}
}

// crowded takes a second to retrieve each document. It records the sizes retrieved and how many retrievals are in
// progress.
type crowded struct {
	network

	padded   bool // makes each document as large as the limit allows
	mu       sync.Mutex
	had, now int64
	atOnce   int
	most     struct {
		bytes  int64
		atOnce int
	}
}

func (c *crowded) Retrieve(_ context.Context, _ tefca.Assertion, _ tefca.Facility, _ tefca.Document,
	limit int64,
) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.atOnce = c.now+limit, c.atOnce+1
	c.most.bytes, c.most.atOnce = max(c.most.bytes, c.had+c.now), max(c.most.atOnce, c.atOnce)
	c.mu.Unlock()
	<-time.After(time.Second)
	c.mu.Lock()
	c.now, c.atOnce = c.now-limit, c.atOnce-1
	body := alder()
	if limit < 1<<20 {
		return nil, tefca.ErrTooLarge
	}
	if c.padded {
		body = append(body, bytes.Repeat([]byte{' '}, int(limit)-len(body))...)
	}
	c.had += int64(len(body))
	return body, nil
}

func TestReaderReservesMemoryForDocumentsInTransit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of                         *crowded
		listed                     tefca.Document
		documents, limited, atOnce int
	}{
		"the largest":                {&crowded{padded: true}, tefca.Document{}, 3, 4, 3},
		"of a size that nobody says": {&crowded{}, tefca.Document{}, 7, 0, 3},
		"small ones":                 {&crowded{}, tefca.Document{Size: 100 << 10}, 7, 0, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.of.listed = slices.Repeat([]tefca.Document{c.listed}, 7)
			got, err := fetch.Reader{}.Read(t.Context(), c.of, fenn(t), tefca.Facility{})
			if err != nil || got.Documents != c.documents || got.Lost["limit"] != c.limited || c.of.most.bytes > 48<<20 ||
				c.of.most.atOnce != c.atOnce {
				t.Errorf("%s: %d documents, lost %v, %+v, %v", name, got.Documents, got.Lost, c.of.most, err)
			}
		})
	}
}

// TestSimulatedDocumentsBelongToRequestedPatient checks that no simulated document is rejected as belonging to another
// person.
func TestSimulatedDocumentsBelongToRequestedPatient(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	n := sim.Network{Now: func() time.Time { return now }, Wait: func(context.Context, time.Duration) error { return nil }}
	documents := 0
	for _, p := range people.All() {
		who := tefca.Assertion{Level: 2, Person: p.Person, Token: secret.New("token"), ExpiresAt: now.Add(time.Minute)}
		expect.NoError(t, n.Locate(t.Context(), who, func(f tefca.Facility) error {
			got, err := fetch.Reader{}.Read(t.Context(), n, who, f)
			if errors.Is(err, tefca.ErrOtherPerson) || got.Lost["other_person"] > 0 {
				t.Errorf("%s at %s: lost %v, %v", p.Person.Given, f.Name, got.Lost, err)
			}
			documents += got.Documents
			return nil
		}))
	}
	if documents < 30 {
		t.Errorf("only %d documents", documents)
	}
}
