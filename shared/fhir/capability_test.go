package fhir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir"
)

func TestParseCapabilityReadsTypesParametersAndEndpoints(t *testing.T) {
	t.Parallel()
	raw := `{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","date":"2026-03-01T10:00:00Z",
	  "software":{"name":"An EHR","version":"7"},"format":["application/fhir+json","xml"],"rest":[
	  {"mode":"client","resource":[{"type":"Account"}]},
	  {"mode":"server",
	   "security":{"extension":[{"url":"http://example.org/other","extension":[{"url":"token","valueUri":"wrong"}]},
	     {"url":"http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris","extension":[
	       {"url":"authorize","valueUri":"https://ehr.example/authorize"},{"url":"token","valueUri":"token"},
	       {"url":"manage","valueUri":"x"},
	       {"url":"introspect","valueUri":"introspect"},{"url":"revoke","valueUri":"/revoke"}]}]},
	   "interaction":[{"code":"batch"}],
	   "resource":[{"type":"Patient"},{"type":"Observation","searchParam":[{"name":"patient"},{"name":"code"}]},
	    {"type":"../x"}]}]}`
	got, err := fhir.ParseCapability([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := fhir.Capability{
		FHIRVersion: "4.0.1", Software: "An EHR", Release: "7", Date: "2026-03-01T10:00:00Z", Batches: true,
		Formats: []string{"application/fhir+json", "xml"},
		Resources: []fhir.CapabilityResource{
			{Type: "Patient"},
			{Type: "Observation", SearchParams: []string{"patient", "code"}},
		},
		OAuth: fhir.OAuthURIs{
			Authorize: "https://ehr.example/authorize", Token: "token", Introspect: "introspect",
			Revoke: "/revoke",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseCapability (-want +got):\n%s", diff)
	}
}

func TestParseCapabilityReadsDSTU2Conformance(t *testing.T) {
	t.Parallel()
	got, err := fhir.ParseCapability([]byte(
		`{"resourceType":"Conformance","fhirVersion":"1.0.2","rest":[{"resource":[{"type":"MedicationOrder"}]}]}`))
	if err != nil || got.FHIRVersion != "1.0.2" || len(got.Resources) != 1 || got.Resources[0].Type != "MedicationOrder" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseCapabilityRejectsInvalidStatements(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "<html>maple</html>", `{"resourceType":"Bundle"}`,
		`{"resourceType":"CapabilityStatement","rest":"maple"}`,
	} {
		_, err := fhir.ParseCapability([]byte(raw))
		if !errors.Is(err, fhir.ErrInvalid) || strings.Contains(err.Error(), "maple") {
			t.Errorf("ParseCapability(%q): got %v, want ErrInvalid without a quotation", raw, err)
		}
	}
}

func TestScopesAllowOnlyGrantedAccess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scopes                                   string
		readPatient, searchPatient, searchOthers bool
	}{
		{"patient/*.read", true, true, true},
		{"openid fhirUser launch/patient patient/*.rs", true, true, true},
		{"patient/*.r", true, false, false},
		{"patient/*.cruds", true, true, true},
		{"patient/*.*", true, true, true},
		{"user/*.read", true, true, true},
		{"patient/Patient.read", true, true, false},
		{"patient/Patient.r", true, false, false},
		{"patient/Patient.rs patient/Observation.rs?category=laboratory", true, true, true},
		{"patient/Observation.read", false, false, true},
		{"patient/*.write", false, false, false},
		{"patient/Patient.cud", false, false, false},
		{"system/*.read", false, false, false},
		{"patient/patient.read", false, false, false},
		{"patient/Patientx.read", false, false, false},
		{"patient/Patient", false, false, false},
		{"patient/Patient.", false, false, false},
		{"patient/Patient.reader", false, false, false},
		{"Patient.read", false, false, false},
		{"launch/patient", false, false, false},
		{"", false, false, false},
	} {
		scopes := fhir.ParseScopes(test.scopes)
		got := [3]bool{
			scopes.Allows("Patient", fhir.Read), scopes.Allows("Patient", fhir.Search),
			scopes.Allows("Observation", fhir.Search),
		}
		if want := [3]bool{test.readPatient, test.searchPatient, test.searchOthers}; got != want {
			t.Errorf("%q allows %v, want %v", test.scopes, got, want)
		}
	}
}
