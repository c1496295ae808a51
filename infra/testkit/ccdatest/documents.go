package ccdatest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// Lines converts documents as one set and returns the resources as NDJSON.
func Lines(tb testing.TB, documents ...[]byte) (ndjson []byte, report ccda.Report) {
	tb.Helper()
	var s ccda.Set
	for _, document := range documents {
		if err := s.Add(document); err != nil {
			tb.Fatal(err)
		}
	}
	var out bytes.Buffer
	report, err := s.Emit(func(r ccda.Resource) error {
		out.Write(r.JSON)
		return out.WriteByte('\n')
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes(), report
}

// DocumentFacts converts complete documents as one set and returns the resources.
func DocumentFacts(t *testing.T, documents ...string) []Resource {
	t.Helper()
	all := make([][]byte, 0, len(documents))
	for _, d := range documents {
		all = append(all, []byte(d))
	}
	ndjson, _ := Lines(t, all...)
	var list []Resource
	for line := range strings.Lines(string(ndjson)) {
		var content map[string]any
		if err := json.Unmarshal([]byte(line), &content); err != nil {
			t.Fatal(err)
		}
		kind, ok := content["resourceType"].(string)
		p := Resource{Kind: kind, Values: map[string]bool{}, JSON: line}
		p.read([]string{""}, content)
		if list = append(list, p); !ok {
			t.Fatalf("no resource: %s", line)
		}
	}
	return list
}

// Wants fails the test for each missing resource. want has the same form as Case.Want.
func Wants(t *testing.T, resources []Resource, want ...string) {
	t.Helper()
	for _, w := range want {
		if !Has(resources, w) {
			t.Errorf("there is no %s", w)
		}
	}
	if t.Failed() {
		for _, r := range resources {
			t.Log(r.JSON)
		}
	}
}

// Document returns a complete document with the given header and body.
func Document(header, body string) string {
	return `<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<id root="2.16.840.1.113883.19.9" extension="d 1"/><code code="34133-9" codeSystem="2.16.840.1.113883.6.1"/>
<title>Summary</title>
<effectiveTime value="20200102030405-0500"/>` + header + `<component>` + body + `</component></ClinicalDocument>`
}

// SomePatient is a recordTarget for a patient who has only an ID.
const SomePatient = `<recordTarget><patientRole><id root="2.16.840.1.113883.19.1" extension="p"/></patientRole>` +
	`</recordTarget>`

// Count returns the number of resources of the given type.
func Count(resources []Resource, kind string) int {
	n := 0
	for _, r := range resources {
		if r.Kind == kind {
			n++
		}
	}
	return n
}
