package fhir_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/shared/fhir"
)

func scan(tb testing.TB, raw string) fhir.Resource {
	tb.Helper()
	resource, err := fhir.Scan([]byte(raw))
	if err != nil {
		tb.Fatalf("Scan(%s): %v", raw, err)
	}
	return resource
}

func lineOf(tb interface{ Fatalf(string, ...any) }, resource fhir.Resource, source string) string {
	var out bytes.Buffer
	if err := resource.WriteLine(&out, source); err != nil {
		tb.Fatalf("%q: %v", resource.JSON, err)
	}
	return out.String()
}

func TestWriteLineAddsSourceWhenMissing(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{ "resourceType": "Basic" }`: `{"resourceType":"Basic","meta":{"source":"S"}}`,
		`{"resourceType":"Basic","id":"1","x":[]}`: `{"resourceType":"Basic","id":"1",` +
			`"meta":{"source":"S"},"x":[]}`,
		`{"x":1,"id":"1","y":2,"resourceType":"Basic","z":{}}`: `{"x":1,"id":"1","y":2,"resourceType":"Basic",` +
			`"meta":{"source":"S"},"z":{}}`,
		`{"resourceType":"Basic","id":{"a":{}}}`: `{"resourceType":"Basic","id":{"a":{}},` +
			`"meta":{"source":"S"}}`,
		`{"resourceType":"Basic","x":{"meta":{"source":"o"}}}`: `{"resourceType":"Basic","meta":{"source":"S"},` +
			`"x":{"meta":{"source":"o"}}}`,
		`{"resourceType":"Basic", "meta" : { } }`: `{"resourceType":"Basic","meta":{"source":"S"}}`,
		`{"meta":{"a":{"source":"o"}},"resourceType":"Basic"}`: `{"meta":{"source":"S","a":{"source":"o"}},` +
			`"resourceType":"Basic"}`,
		`{"resourceType":"Basic","m\u0065ta":{"versionId":"1"}}`: `{"resourceType":"Basic","m\u0065ta":{"source":"S",` +
			`"versionId":"1"}}`,
		`{"resourceType":"Basic","meta":{"_source":{"id":"o"}}}`: `{"resourceType":"Basic","meta":{"source":"S",` +
			`"_source":{"id":"o"}}}`,
		`{"resourceType":"Basic","meta":{"source":"o"}}`:          `{"resourceType":"Basic","meta":{"source":"o"}}`,
		`{"resourceType":"Basic","meta":{"a":1,"s\u006furce":0}}`: `{"resourceType":"Basic","meta":{"a":1,"s\u006furce":0}}`,
		`{"resourceType":"Basic","meta":null}`:                    `{"resourceType":"Basic","meta":null}`,
		`{"resourceType":"Basic","meta":[{"a":1}]}`:               `{"resourceType":"Basic","meta":[{"a":1}]}`,
		`{"resourceType":"Basic","meta":"source"}`:                `{"resourceType":"Basic","meta":"source"}`,
		`{"resourceType":"Basic","meta":{},"meta":{}}`:            `{"resourceType":"Basic","meta":{},"meta":{}}`,
		`{"resourceType":"Basic","meta":{},"met\u0061":1}`:        `{"resourceType":"Basic","meta":{},"met\u0061":1}`,
	} {
		if got := lineOf(t, scan(t, raw), "S"); got != want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", raw, got, want)
		}
	}
}

func TestWriteLineEscapesSource(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"https://ehr.example/fhir?a=1&b=": `"https://ehr.example/fhir?a=1&b="`,
		`","id":"other`:                   `"\",\"id\":\"other"`,
		"\\":                              `"\\"`,
		"a\nb\x00":                        `"a\u000ab\u0000"`,
		"\xffé":                           "\"\ufffdé\"",
	} {
		got := lineOf(t, scan(t, `{"resourceType":"Basic"}`), source)
		if got != `{"resourceType":"Basic","meta":{"source":`+want+"}}\n" {
			t.Errorf("source %q: got %s, want %s", source, got, want)
		}
	}
}

func TestWriteLineDoesNotModifyScannedPage(t *testing.T) {
	t.Parallel()
	page, err := fhir.ParseBundle([]byte(`{"resourceType":"Bundle","entry":[
		{"resource":{"resourceType":"Basic","id":"1"}},{"resource":{"resourceType":"Basic","id":"2","meta":{"a":1}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	for range 2 {
		file.Reset()
		for resource := range page.All() {
			file.WriteString(lineOf(t, resource, "urn:a-rather-long-source"))
		}
	}
	want := `{"resourceType":"Basic","id":"1","meta":{"source":"urn:a-rather-long-source"}}` + "\n" +
		`{"resourceType":"Basic","id":"2","meta":{"source":"urn:a-rather-long-source","a":1}}` + "\n"
	if file.String() != want {
		t.Errorf("got %s, want %s", file.String(), want)
	}
}

// memberCount returns how often each name occurs at the top level of a JSON object.
func memberCount(tb interface{ Fatalf(string, ...any) }, object []byte) map[string]int {
	counted := map[string]int{}
	reader := json.NewDecoder(bytes.NewReader(object))
	if _, err := reader.Token(); err != nil {
		tb.Fatalf("%q: %v", object, err)
	}
	for reader.More() {
		name, err := reader.Token()
		if err != nil {
			tb.Fatalf("%q: %v", object, err)
		}
		text, ok := name.(string)
		var value json.RawMessage
		if err := reader.Decode(&value); err != nil || !ok {
			tb.Fatalf("%q: member %v: %v", object, name, err)
		}
		counted[text]++
	}
	return counted
}

// sourcedLineEqualsEncodingJSON compares a scanned resource's line with the output of encoding/json.
func sourcedLineEqualsEncodingJSON(tb interface{ Fatalf(string, ...any) }, resource fhir.Resource, source string) {
	decode := func(text []byte) (object map[string]any) {
		reader := json.NewDecoder(bytes.NewReader(text))
		reader.UseNumber()
		if err := reader.Decode(&object); err != nil {
			tb.Fatalf("%q: %v", text, err)
		}
		return object
	}
	want, names := decode(resource.JSON), memberCount(tb, resource.JSON)
	meta, isObject := want["meta"].(map[string]any)
	_, sourced := meta["source"]
	untouched := names["meta"] > 1 || names["meta"] == 1 && (!isObject || sourced)
	line, plain := []byte(lineOf(tb, resource, source)), lineOf(tb, resource, "")
	switch {
	case bytes.IndexByte(line, '\n') != len(line)-1:
		tb.Fatalf("%q is not one line", line)
	case untouched && string(line) != plain:
		tb.Fatalf("%q became %q", resource.JSON, line)
	case untouched:
		return
	case meta == nil:
		want["meta"] = map[string]any{"source": source}
		names["meta"] = 1
	default:
		meta["source"] = source
	}
	if diff := cmp.Diff(want, decode(line)); diff != "" {
		tb.Fatalf("%q became %q (-want +got):\n%s", resource.JSON, line, diff)
	}
	if diff := cmp.Diff(names, memberCount(tb, line)); diff != "" {
		tb.Fatalf("%q became %q, names (-want +got):\n%s", resource.JSON, line, diff)
	}
	again, err := fhir.Scan(bytes.Clone(line))
	if err != nil || lineOf(tb, again, "other") != string(line) {
		tb.Fatalf("%q: the source is not seen when it is read again: %v", line, err)
	}
}

// jsonText returns a generator of JSON values.
func jsonText(depth int) *rapid.Generator[string] {
	scalar := rapid.SampledFrom([]string{
		`1`, `-2.5e+7`, `true`, `null`, `""`, `"a\"b\\"`, `"\ud83d\ude00 \u0000"`,
		`"é"`, "{}", "[]",
	})
	if depth == 0 {
		return scalar
	}
	name := rapid.SampledFrom([]string{
		`"a"`, `"source"`, `"\u0073ource"`, `"meta"`, `"reference"`, `"lastUpdated"`,
		`"_source"`,
	})
	return rapid.OneOf(scalar, rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(jsonText(depth-1), 0, 3).Draw(t, "elements"), " ,") + "\n]"
	}), rapid.Custom(func(t *rapid.T) string {
		members := make([]string, rapid.IntRange(0, 3).Draw(t, "members"))
		for i := range members {
			members[i] = name.Draw(t, "name") + ": " + jsonText(depth-1).Draw(t, "value")
		}
		return "{ " + strings.Join(members, ", ") + "}"
	}))
}

func TestWriteLinePreservesEverythingExceptMetaSource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := []string{`"resourceType" : "Basic"`}
		if rapid.Bool().Draw(t, "has id") {
			members = append(members, `"id":`+jsonText(1).Draw(t, "id"))
		}
		for range rapid.IntRange(0, 4).Draw(t, "others") {
			name := rapid.SampledFrom([]string{`"meta"`, `"met\u0061"`, `"subject"`, `"text"`, `"x"`}).Draw(t, "name")
			members = append(members, name+":"+jsonText(3).Draw(t, "value"))
		}
		raw := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ",\t") + "}"
		resource, err := fhir.Scan([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		sourcedLineEqualsEncodingJSON(t, resource, rapid.StringN(1, 40, -1).Draw(t, "source"))
	})
}

func TestScanExtractsSubjects(t *testing.T) {
	t.Parallel()
	unreadable := fhir.Subject{Member: 1, Unreadable: true}
	is := func(references ...string) (list []fhir.Subject) {
		for _, text := range references {
			list = append(list, fhir.Subject{Member: 1, Reference: text})
		}
		return list
	}
	number := fhir.Identifier{System: "urn:mrn", Value: "7"}
	for raw, want := range map[string][]fhir.Subject{
		`"x":1`:                               nil,
		`"subject":{"reference":"Patient/p"}`: is("Patient/p"),
		`"patient":{"display":"x","reference":"Patient\/p"}`: is("Patient/p"),
		`"\u0066or":{"reference":"Patient/p"}`:               is("Patient/p"),
		`"individual":{"reference":"https://ehr.example/Patient/p","type":"Patient"}`: {{
			Member:    1,
			Reference: "https://ehr.example/Patient/p", Type: "Patient",
		}},
		`"subject":[{"reference":"Patient/p"},[{"reference":"Patient/q"}]]`: is("Patient/p", "Patient/q"),
		`"subject":{"reference":"a"},"beneficiary":{"reference":"b"}`: {
			{Member: 1, Reference: "a"},
			{Member: 2, Reference: "b"},
		},
		`"candidate":{"identifier":{"system":"urn:mrn","value":"7"},"display":"x"}`:      {{Member: 1, Identifier: number}},
		`"subject":{"identifier":{"assigner":{"reference":"Organization/o"}}}`:           nil,
		`"subject":{"extension":[{"valueReference":{"reference":"a"}}],"reference":"b"}`: is("b"),
		`"subject":{"display":"somebody"}`:                                               {unreadable},
		`"subject":{"reference":"a","reference":"b"}`:                                    {unreadable},
		`"subject":{"reference":["Patient/p"]}`:                                          {unreadable},
		`"subject":{"reference":"` + strings.Repeat("a", fhir.MaxAddress+1) + `"}`:       {unreadable},
		`"subject":"Patient/p"`:                                                          {unreadable},
		`"contained":[{"resourceType":"Basic","subject":{"reference":"Patient/q"}}]`:     nil,
		`"recorder":{"reference":"Practitioner/d"}`:                                      nil,
	} {
		resource := scan(t, `{"resourceType":"Basic",`+raw+`}`)
		if diff := cmp.Diff(want, resource.Subjects); diff != "" {
			t.Errorf("subjects of %.200s (-want +got):\n%s", raw, diff)
		}
	}
	many := scan(t, `{"resourceType":"Basic","subject":[`+strings.Repeat(`{"reference":"Patient/p"},`, 200)+
		`{"reference":"Patient/q"}]}`)
	if got := len(many.Subjects); got != 100 || !many.Subjects[99].Unreadable {
		t.Errorf("of 201 subjects %d are kept, and the last is %+v", got, many.Subjects[got-1])
	}
}

func TestScanExtractsLastUpdated(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"meta":{"lastUpdated":"2026-01-02T03:04:05.678+01:00"}`:                "2026-01-02T03:04:05.678+01:00",
		`"meta":{"lastUpdated":"some day"},"x":{"meta":{"lastUpdated":"2026"}}`: "some day",
		`"meta":{"lastUpdated":20260102}`:                                       "",
		`"meta":[{"lastUpdated":"2026"}],"lastUpdated":"2026"`:                  "",
	} {
		if got := scan(t, `{"resourceType":"Basic",`+raw+`}`).LastUpdated; got != want {
			t.Errorf("Scan(%s) = %q, want %q", raw, got, want)
		}
	}
}

func TestScanFindsReferencesInSubjectAndMeta(t *testing.T) {
	t.Parallel()
	got := scan(t, `{"resourceType":"Basic",
		"meta":{"extension":[{"valueReference":{"reference":"a"}}],"source":{"reference":"b"}},
		"subject":[{"reference":"c","identifier":{"assigner":{"reference":"d"}}},[{"reference":"e"}]],
		"patient":{"photo":{"url":"Binary/1"},"reference":"f"}}`)
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f"}, got.References); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]fhir.Attachment{{URL: "Binary/1"}}, got.Attachments); diff != "" {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
}

func TestWriteLinePreservesSyntheaResources(t *testing.T) {
	t.Parallel()
	page, err := fhir.ParseBundle(syntheaPage(t))
	if err != nil {
		t.Fatal(err)
	}
	for resource := range page.All() {
		sourcedLineEqualsEncodingJSON(t, resource, "https://ehr.example/fhir")
		var want struct {
			Meta                          struct{ LastUpdated string }
			Subject, Patient, Beneficiary struct{ Reference string }
		}
		if err := json.Unmarshal(resource.JSON, &want); err != nil {
			t.Fatalf("%s/%s: %v", resource.Type, resource.ID, err)
		}
		subject := want.Subject.Reference + want.Patient.Reference + want.Beneficiary.Reference
		var got string
		if len(resource.Subjects) > 0 {
			got = resource.Subjects[0].Reference
		}
		if len(resource.Subjects) > 1 || got != subject || resource.LastUpdated != want.Meta.LastUpdated {
			t.Errorf("%s/%s: got subject %q, want %q", resource.Type, resource.ID, got, subject)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	page, err := fhir.ParseBundle(syntheaPage(b))
	if err != nil {
		b.Fatal(err)
	}
	size, largest, resources := 0, 0, slices.Collect(page.All())
	for _, resource := range resources {
		size += len(resource.JSON)
		largest = max(largest, len(resource.JSON))
	}
	work := make([]byte, largest)
	var line bytes.Buffer
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, resource := range resources {
			raw := work[:copy(work, resource.JSON)]
			read, err := fhir.Scan(raw)
			if err != nil {
				b.Fatal(err)
			}
			line.Reset()
			_ = read.WriteLine(&line, "https://ehr.example/fhir")
		}
	}
}
