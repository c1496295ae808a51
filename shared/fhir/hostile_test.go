package fhir_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir"
)

func TestScanRejectsOrPreservesHostileResources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, members string // members after resourceType
		good          bool
	}{
		{"invalid UTF-8 in a value", "\"x\":\"a\xffb\"", false},
		{"invalid UTF-8 in a name", "\"a\xc3\":1", false},
		{"an overlong form", "\"x\":\"\xc0\xaf\"", false},
		{"a surrogate in UTF-8", "\"x\":\"\xed\xa0\x80\"", false},
		{"a rune beyond Unicode", "\"x\":\"\xf4\x90\x80\x80\"", false},
		{"invalid UTF-8 in meta", "\"meta\":{\"lastUpdated\":\"\xff\"}", false},
		{"invalid UTF-8 in a subject", "\"subject\":{\"\xff\":1}", false},
		{"a byte order mark between members", "\ufeff\"x\":1", false},
		{"a byte order mark in a value", "\"x\":\"\ufeff\"", true},
		{"NUL in a value", "\"x\":\"a\x00b\"", false},
		{"NUL in a name", "\"a\x00\":1", false},
		{"NUL between tokens", "\"x\":\x001", false},
		{"NUL as an escape", `"x":"\u0000","\u0000":1`, true},
		{"a high surrogate alone", `"x":"\ud800"`, true},
		{"a low surrogate alone, in a name", `"\udc00":1`, true},
		{"surrogates the wrong way round", `"x":"\udc00\ud800"`, true},
		{"a cut surrogate", `"x":"\ud80"`, false},
		{"an id twice", `"id":"1","id":"1"`, false},
		{"an id twice, once as a number", `"id":"1","id":2`, false},
		{"a type twice, once escaped", `"\u0072esourceType":"Basic"`, false},
		{"another member twice", `"x":1,"x":2`, true},
		{"a name without text", `"":{"":[]}`, true},
		{"a number of many digits", `"x":` + strings.Repeat("9", 10_000) + `e-99999`, true},
		{"100,000 arrays", `"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), false},
		{"100,000 objects", `"x":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), false},
		{"100,000 objects in meta", `"meta":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), false},
		{"100,000 lists of subjects", `"subject":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), false},
		{"100,000 arrays that never close", `"x":` + strings.Repeat("[", 100_000), false},
	} {
		raw := `{"resourceType":"Basic",` + c.members + "}"
		resource, err := fhir.Scan([]byte(raw))
		switch {
		case c.good && (err != nil || string(resource.JSON) != raw):
			t.Errorf("%s: Scan = %.80q, %v; want it as it stands", c.name, resource.JSON, err)
		case !c.good && !errors.Is(err, fhir.ErrInvalid):
			t.Errorf("%s: Scan gave error %v, want ErrInvalid", c.name, err)
		}
		page, err := fhir.ParseBundle([]byte(`{"resourceType":"Bundle","entry":[{"resource":` + raw + `}]}`))
		switch {
		case c.good && (err != nil || page.Len != 1 || string(slices.Collect(page.All())[0].JSON) != raw):
			t.Errorf("%s: ParseBundle = %+.80v, %v; want it as it stands", c.name, page, err)
		case !c.good && err == nil && page.Unusable != 1:
			t.Errorf("%s: ParseBundle took it", c.name)
		case !c.good && err != nil && !errors.Is(err, fhir.ErrInvalid):
			t.Errorf("%s: ParseBundle gave error %v, want ErrInvalid", c.name, err)
		}
	}
}

func TestParseBundleRejectsHostileBundles(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]string{
		"entry twice, once escaped":       `"entry":[],"\u0065ntry":[]`,
		"total twice":                     `"total":1,"total":2`,
		"an unknown member twice":         `"x":1,"x":1`,
		"a type twice":                    `"resourceType":"Bundle"`,
		"invalid UTF-8 in a name":         "\"\xff\":1",
		"invalid UTF-8 in a link":         "\"link\":[{\"relation\":\"next\",\"url\":\"\xff\"}]",
		"NUL in a link":                   "\"link\":[{\"relation\":\"next\",\"url\":\"\x00\"}]",
		"invalid UTF-8 in a search mode":  "\"entry\":[{\"search\":{\"mode\":\"\xff\"}}]",
		"100,000 arrays beside the entry": `"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"100,000 objects in an entry": `"entry":[{"x":` + strings.Repeat(`{"a":`, 100_000) + "1" +
			strings.Repeat("}", 100_000) + `}]`,
		"100,000 lists as an entry": `"entry":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	} {
		if _, err := fhir.ParseBundle([]byte(`{"resourceType":"Bundle",` + members + "}")); !errors.Is(err, fhir.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

// allocated returns the number of heap bytes allocated during a call, including bytes allocated by the runtime. The
// number is accurate only in a test that doesn't run in parallel.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The test measures the heap, so it doesn't run in parallel.
func TestScanUsesBoundedMemoryForHostileDocuments(t *testing.T) {
	const head = `{"resourceType":"Basic",`
	name := `"` + strings.Repeat("a", 1<<20) + `\u0061":`
	for _, c := range []struct {
		name, raw string
		good      bool
		limit     uint64
	}{
		{"a line of 100 MB", head + `"x":"` + strings.Repeat("a", 100_000_000) + `"}`, false, 1 << 20},
		{"100 MB that are not even UTF-8", strings.Repeat("\xff", 100_000_000), false, 1 << 20},
		{"one text as long as a page may be", head + `"x":"` + strings.Repeat("a", fhir.MaxPage-100) + `"}`, true, 1 << 20},
		{"a million arrays", head + `"x":` + strings.Repeat("[", 1_000_000), false, 1 << 20},
		{
			"an escaped name of 1 MB on many objects", head + name + "[" + strings.Repeat("{},", 10_000) + "{}]}",
			true, 32 << 20,
		},
		{"a million texts", head + `"x":[` + strings.Repeat(`"reference",`, 1_000_000) + `""]}`, true, 1 << 20},
	} {
		raw := []byte(c.raw)
		var resource fhir.Resource
		var err error
		used := allocated(func() { resource, err = fhir.Scan(raw) })
		if c.good && err != nil || !c.good && !errors.Is(err, fhir.ErrInvalid) {
			t.Errorf("%s: error %v, want good = %v", c.name, err, c.good)
		}
		if c.good && (!bytes.Equal(resource.JSON, []byte(c.raw)) || &resource.JSON[0] != &raw[0]) {
			t.Errorf("%s: the resource is not the page itself", c.name)
		}
		if used > c.limit {
			t.Errorf("%s: %d bytes allocated, want at most %d", c.name, used, c.limit)
		}
	}
}

// The test measures the heap, so it doesn't run in parallel.
func TestParseBundleRejects100MBDocumentWithoutParsing(t *testing.T) {
	page := []byte(`{"resourceType":"Bundle","entry":[{"x":"` + strings.Repeat("a", 100_000_000) + `"}]}`)
	var err error
	used := allocated(func() { _, err = fhir.ParseBundle(page) })
	if !errors.Is(err, fhir.ErrInvalid) || used > 1<<20 {
		t.Errorf("error %v after %d bytes, want ErrInvalid at once", err, used)
	}
}
