package fhir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"recordbridge/shared/fhir"
)

// exportedFields returns an option that compares only the exported fields of resources.
func exportedFields() cmp.Option { return cmpopts.IgnoreUnexported(fhir.Resource{}) }

func TestScanExtractsTypeIDReferencesAndAttachments(t *testing.T) {
	t.Parallel()
	raw := `
	{ "resourceType" : "DocumentReference", "id": "doc-1",
	  "extension": [ { "url": "http://example.org/not-an-attachment", "valueReference": {"reference": "Device/d"} } ],
	  "contained": [ { "resourceType": "Practitioner", "id": "inner", "photo": [ {"url": "Binary/photo"} ] } ],
	  "subject": { "reference": "Patient/p", "display": "a \"quoted\" \u00e9 name" },
	  "author": [ {"reference": "Practitioner\/x"}, {"reference": "#inner"}, {"reference": 7}, {"reference": ["no"]} ],
	  "content": [
	    { "attachment": { "contentType": "application/pdf", "url": "Binary/1" }, "format": {"url": "not this"} },
	    { "attachment": { "\u0075rl": "Binary/2" } },
	    { "attachment": { "data": "aGk=" } }
	  ] }
	`
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	got, err := fhir.Scan([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fhir.Resource{
		Type:       "DocumentReference",
		ID:         "doc-1",
		JSON:       want.Bytes(),
		References: []string{"Device/d", "Patient/p", "Practitioner/x", "#inner"},
		Attachments: []fhir.Attachment{
			{URL: "Binary/photo"},
			{URL: "Binary/1", ContentType: "application/pdf"},
			{URL: "Binary/2"},
		},
		Subjects: []fhir.Subject{{Member: 1, Reference: "Patient/p"}},
	}, got, exportedFields()); diff != "" {
		t.Errorf("Scan (-want +got):\n%s", diff)
	}
}

func TestScanFindsAttachmentsInAllMembers(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"resourceType":"DiagnosticReport","presentedForm":[{"url":"Binary/1"}]}`,
		`{"resourceType":"Media","content":{"url":"Binary/1"}}`,
		`{"resourceType":"Patient","photo":[{"url":"Binary/1"}]}`,
		`{"resourceType":"Communication","payload":[{"contentAttachment":{"url":"Binary/1"}}]}`,
		`{"resourceType":"Consent","sourceAttachment":{"url":"Binary/1"}}`,
		`{"resourceType":"QuestionnaireResponse","item":[{"answer":[{"valueAttachment":{"url":"Binary/1"}}]}]}`,
	} {
		got, err := fhir.Scan([]byte(raw))
		if err != nil {
			t.Fatalf("Scan(%s): %v", raw, err)
		}
		if diff := cmp.Diff([]fhir.Attachment{{URL: "Binary/1"}}, got.Attachments); diff != "" {
			t.Errorf("Scan(%s) attachments (-want +got):\n%s", raw, diff)
		}
	}
}

func TestScanReturnsIDVerbatim(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"resourceType":"Basic"}`:                                  "",
		`{"resourceType":"Basic","id":"with_underscore and space"}`: "with_underscore and space",
		`{"resourceType":"Basic","id":17}`:                          "",
		`{"resourceType":"Basic","x":{"id":"inner"}}`:               "",
		`{"x":{"id":"inner"},"id":"outer","resourceType":"Basic"}`:  "outer",
		`{"resourceType":"Basic","\u0069d":"escaped\u002dname"}`:    "escaped-name",
	} {
		got, err := fhir.Scan([]byte(raw))
		if err != nil || got.ID != want {
			t.Errorf("Scan(%s) = id %q, %v; want %q", raw, got.ID, err, want)
		}
	}
}

func TestScanRejectsInvalidDocuments(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `{"resourceType":"Basic","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	if _, err := fhir.Scan([]byte(deep(127))); err != nil {
		t.Errorf("128 levels: %v", err)
	}
	for name, raw := range map[string]string{
		"nothing":                         "",
		"a web page":                      "<!doctype html><title>Sign in</title>",
		"an array":                        `[{"resourceType":"Basic"}]`,
		"a string":                        `"resourceType"`,
		"no resourceType":                 `{"id":"1"}`,
		"a resourceType that is a number": `{"resourceType":1}`,
		"a resourceType that is a path":   `{"resourceType":"../Basic"}`,
		"resourceType twice":              `{"resourceType":"Basic","resourceType":"Patient"}`,
		"id twice":                        `{"resourceType":"Basic","id":"1","id":"1"}`,
		"id twice, once escaped":          `{"resourceType":"Basic","id":"1","\u0069d":"2"}`,
		"text after the resource":         `{"resourceType":"Basic"} {}`,
		"a cut resource":                  `{"resourceType":"Basic","x":"y`,
		"a trailing comma":                `{"resourceType":"Basic",}`,
		"a line break in a string":        "{\"resourceType\":\"Basic\",\"x\":\"a\nb\"}",
		"invalid UTF-8":                   "{\"resourceType\":\"Basic\",\"x\":\"\xff\"}",
		"invalid UTF-8 in a name":         "{\"resourceType\":\"Basic\",\"\xc0\x80\":1}",
		"129 levels":                      deep(128),
		"a million levels":                deep(1_000_000),
	} {
		if _, err := fhir.Scan([]byte(raw)); !errors.Is(err, fhir.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	large := []byte(`{"resourceType":"Basic"}` + strings.Repeat(" ", fhir.MaxPage))
	if _, err := fhir.Scan(large); !errors.Is(err, fhir.ErrInvalid) {
		t.Errorf("larger than MaxPage: got %v, want ErrInvalid", err)
	}
}

func TestScanErrorsOmitDocumentText(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"resourceType":"Alder", "x": maple}`, `{"resourceType":["maple"]}`, `maple`} {
		_, err := fhir.Scan([]byte(raw))
		if err == nil || strings.Contains(err.Error(), "aple") {
			t.Errorf("Scan(%s) says %v", raw, err)
		}
	}
}

// equalToEncodingJSON compares the scanner, in each parsing mode, with encoding/json for one value in a resource.
func equalToEncodingJSON(t interface{ Fatalf(string, ...any) }, value []byte) {
	for _, name := range []string{"x", "meta", "subject", "id"} {
		resourceEqualToEncodingJSON(t, slices.Concat([]byte(`{"resourceType":"Basic","`+name+`":`), value, []byte("}")))
	}
}

func resourceEqualToEncodingJSON(t interface{ Fatalf(string, ...any) }, raw []byte) {
	var want map[string]any
	// The value may close the object and add top-level names ("1,"id":…"), so encoding/json determines the expected
	// result.
	judge := json.NewDecoder(bytes.NewReader(raw))
	judge.UseNumber() // 1e700 is valid JSON but doesn't fit in a float64.
	valid := json.Valid(raw) && utf8.Valid(raw) && judge.Decode(&want) == nil
	got, err := fhir.Scan(bytes.Clone(raw))
	switch {
	case err == nil && !valid:
		t.Fatalf("%q: accepted, but encoding/json refuses it", raw)
	case err != nil && valid && !strings.Contains(err.Error(), "not JSON"):
		return // The scanner has its own rules for depth and unique names.
	case err != nil && valid:
		t.Fatalf("%q: %v, but encoding/json accepts it", raw, err)
	case err != nil:
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	id, _ := want["id"].(string)
	if !bytes.Equal(got.JSON, compact.Bytes()) || got.ID != id || got.Type != want["resourceType"] {
		t.Fatalf("%q: got %q (%s/%s), want %q", raw, got.JSON, got.Type, got.ID, compact.Bytes())
	}
	if again, err := fhir.Scan(bytes.Clone(got.JSON)); err != nil || !bytes.Equal(again.JSON, got.JSON) {
		t.Fatalf("%q: not stable: %q, %v", raw, again.JSON, err)
	}
	sourcedLineEqualsEncodingJSON(t, got, `https://ehr.example/fhir?a=<1>&b="2"`)
}

func FuzzScanAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`1`, `-0`, `01`, `1.`, `.5`, `1e`, `1e+5`, `1e700`, `-`, `true`, `tru`, `null`, `"\u12g4"`, `"\ud800"`,
		`"\x"`, `"a\\"`,
		`{"a":[1,2,{"reference":"x"}]}`, `[1,]`, `{"a" 1}`, `{,}`, "\"\u2028\"", `"a" , "id" : "b"`, `[}`, ` [ ] `, `1}{`,
		`{"source":"a"}`, `{"\u0073ource":null,"lastUpdated":"2026"}`, `{ } , "meta" : { } `, `1,"meta":{"a":{"source":1}}`,
		`[{"reference":"Patient/p"},[{"reference":"x"}]]`, `{"\ud800":"\udc00","":{"a\u0000":[]}}`,
		`1,"met\u0061":[{}],"id":{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) { equalToEncodingJSON(t, value) })
}

func TestScanAgreesWithEncodingJSONOnDamagedDocuments(t *testing.T) {
	t.Parallel()
	tokens := []string{
		`{`, `}`, `[`, `]`, `:`, `,`, `"`, `"a"`, `"id"`, `"reference"`, `\`, `\u00`, `\ud83d`, `0`, `-1`,
		`2.5e-7`, `.`, `e9`,
		"true", "null", "false", " ", "\n", "\t", "\r", "\x00", "\x1f", "\x7f", "é", "\xe2\x82", "\xff", "\ufeff", "/",
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 12).Draw(t, "tokens")
		equalToEncodingJSON(t, []byte(strings.Join(parts, "")))
	})
	rapid.Check(t, func(t *rapid.T) {
		document := []byte(` { "a" : [ 1 , -2.50e+3 , "x\n\u00e9é" , { "id" : null } ] , "b" : { } } `)
		at := rapid.IntRange(0, len(document)-1).Draw(t, "at")
		document[at] = rapid.Byte().Draw(t, "byte")
		equalToEncodingJSON(t, document)
	})
}

func TestWriteLineAppendsSingleLineFeed(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for _, raw := range []string{
		"{\n \"resourceType\": \"Basic\",\r\n \"id\": \"1\" }",
		`{"resourceType":"Basic","id":"2"}`,
	} {
		resource, err := fhir.Scan([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString(lineOf(t, resource, ""))
	}
	want := "{\"resourceType\":\"Basic\",\"id\":\"1\"}\n{\"resourceType\":\"Basic\",\"id\":\"2\"}\n"
	if file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
}
