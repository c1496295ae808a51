package fhir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir"
)

func TestNamesPatientAcceptsAnySpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		id    string
		names fhir.Named
	}{
		"Patient/p2":                          {"p2", fhir.APatient},
		"/Patient/p2":                         {"p2", fhir.APatient},
		"./Patient/p2":                        {"p2", fhir.APatient},
		"\tPatient/p2\n":                      {"p2", fhir.APatient},
		`Patient\p2`:                          {"p2", fhir.APatient},
		"patient/p2":                          {"p2", fhir.APatient},
		"Patient//p2/":                        {"p2", fhir.APatient},
		"Patient/p%32":                        {"p2", fhir.APatient},
		"Patient/p2?x=1":                      {"p2", fhir.APatient},
		"Patient/p2#part":                     {"p2", fhir.APatient},
		"Patient/p2/_history/1":               {"p2", fhir.APatient},
		"Patient/p2/Observation/1":            {"p2", fhir.APatient},
		"https://ehr.example/fhir/Patient/p2": {"p2", fhir.APatient},
		"HTTP://other-host:8080/a/Patient/b/Patient/p2?_a=b": {"p2", fhir.APatient},
		"https://ehr.example/fhir/Patient/p2/_history/1":     {"p2", fhir.APatient},
		"#p2": {"p2", fhir.Contained},
		"urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427": {"", fhir.Unclear},
		"urn:oid:1.2.3":                          {"", fhir.Unclear},
		"Patient?identifier=urn:mrn|7":           {"", fhir.Unclear},
		"https://ehr.example/fhir/?a=Patient/p2": {"", fhir.Unclear},
		"Patient/":                               {"", fhir.Unclear},
		"p2":                                     {"", fhir.Unclear},
		"":                                       {"", fhir.Unclear},
		"#":                                      {"", fhir.Unclear},
		"PatientRecord/p2":                       {"", fhir.Unclear},
		"patients/p2":                            {"", fhir.Unclear},
		"Group/g":                                {"", fhir.NoPatient},
		"Practitioner?identifier=urn:npi|7":      {"", fhir.NoPatient},
		"https://elsewhere.example/fhir/Device/d/_history/12": {"", fhir.NoPatient},
	} {
		if id, names := fhir.NamesPatient(text); id != want.id || names != want.names {
			t.Errorf("%q is read as %q, %d; want %q, %d", text, id, names, want.id, want.names)
		}
	}
}

func TestScanPersonLimitsIdentifiersAndLinks(t *testing.T) {
	t.Parallel()
	patient := scan(t,
		`{"resourceType":"Patient","id":"p","identifier":[{"system":"urn:mrn","value":"7"},{"system":"urn:none"},7],
		"link":[{"type":"replaces","other":{"reference":"Patient/old"}},{"other":{"display":"x"}},7],
		"contact":[{"link":{"other":{"reference":"Patient/mother"}}}],"generalPractitioner":[{"reference":"Patient/no"}]}`)
	want := fhir.Person{Links: []string{"Patient/old"}, Identifiers: []fhir.Identifier{{System: "urn:mrn", Value: "7"}}}
	if diff := cmp.Diff(want, fhir.ScanPerson(patient)); diff != "" {
		t.Errorf("person (-want +got):\n%s", diff)
	}
	many := scan(t, `{"resourceType":"Patient","identifier":[`+strings.Repeat(`{"value":"1"},`, 500)+`{}],"link":[`+
		strings.Repeat(`{"other":{"reference":"Patient/1"}},`, 500)+`{}]}`)
	if got := fhir.ScanPerson(many); len(got.Identifiers) != 100 || len(got.Links) != 100 {
		t.Errorf("%d identifiers and %d links are kept", len(got.Identifiers), len(got.Links))
	}
}

func TestScanLimitsReferencesAndCountsDroppedOnes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", fhir.MaxAddress)
	for name, c := range map[string]struct {
		members         string
		references, cut int
	}{
		"a reference of the longest":     {`"x":{"reference":"` + long + `"}`, 1, 0},
		"a longer reference":             {`"x":{"reference":"` + long + `a"}`, 0, 1},
		"a longer address":               {`"photo":{"url":"` + long + `a"}`, 0, 1},
		"many references":                {`"x":[` + strings.Repeat(`{"reference":"a"},`, 60_000) + `{}]`, 50_000, 10_000},
		"many long references":           {`"x":[` + strings.Repeat(`{"reference":"`+long+`"},`, 600) + `{}]`, 512, 88},
		"an id that is longer than text": {`"id":"` + long + `"`, 0, 0},
	} {
		got := scan(t, `{"resourceType":"Basic",`+c.members+`}`)
		if len(got.References) != c.references || got.Cut != c.cut || got.ID != "" {
			t.Errorf("%s: %d references, %d cut, id of %d bytes", name, len(got.References), got.Cut, len(got.ID))
		}
	}
	next := `{"resourceType":"Bundle","link":[{"relation":"next","url":"` + long + `"}]}`
	if page, err := fhir.ParseBundle([]byte(next)); err != nil || page.Next != long || page.NextLost {
		t.Errorf("a next link of the longest: %v", err)
	}
	next = strings.Replace(next, long, long+"a", 1)
	if page, err := fhir.ParseBundle([]byte(next)); err != nil || page.Next != "" || !page.NextLost {
		t.Errorf("a longer next link: %v", err)
	}
}

func TestParseCapabilityLimitsTypesAndParameters(t *testing.T) {
	t.Parallel()
	raw := `{"resourceType":"CapabilityStatement","rest":[{"mode":"server","resource":[` +
		strings.Repeat(`{"type":"Basic","searchParam":[`+strings.Repeat(`{"name":"patient"},`, 50)+`{"name":"`+
			strings.Repeat("a", 129)+`"}]},`, 2000) + `{}]}]}`
	got, err := fhir.ParseCapability([]byte(raw))
	names := 0
	for _, one := range got.Resources {
		names += len(one.SearchParams)
	}
	if err != nil || len(got.Resources) != 1000 || names != 40_000 {
		t.Errorf("%d types with %d names: %v", len(got.Resources), names, err)
	}
}
