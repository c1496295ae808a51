package probe_test

import (
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/fhir"
)

func TestRunFailsScopesWhenPatientOrUSCoreTypesAreMissing(t *testing.T) {
	t.Parallel()
	const most = "patient/AllergyIntolerance.rs patient/Coverage.rs patient/Device.rs patient/Encounter.rs " +
		"patient/FamilyMemberHistory.rs patient/Goal.rs " +
		"patient/Immunization.rs patient/Procedure.rs patient/RelatedPerson.rs patient/Condition.rs patient/CarePlan.rs " +
		"patient/CareTeam.rs " +
		"patient/MedicationRequest.rs patient/MedicationDispense.rs patient/DiagnosticReport.rs patient/DocumentReference.rs"
	for name, test := range map[string]struct {
		scope string
		want  told
	}{
		"no Patient":            {"openid patient/Goal.rs", told{"scopes": {probe.Failed, "don't cover Patient"}}},
		"a Patient to be found": {"patient/Patient.s " + most, told{"scopes": {probe.Failed, "don't cover Patient"}}},
		"one type of US Core": {
			"patient/Patient.r patient/Observation.rs",
			told{"scopes": {probe.Failed, "AllergyIntolerance, "}},
		},
		"read, but not searched": {
			"patient/Patient.rs patient/*.r patient/Goal.rs",
			told{"scopes": {probe.Failed, "Observation"}},
		},
		"most of US Core":        {"patient/Patient.rs " + most, told{"resource_types": {probe.Warning, "Observation"}}},
		"all":                    {"patient/*.rs", told{"resource_types": {probe.OK, ""}}},
		"chosen at registration": {"openid fhirUser", told{"scopes": {probe.Warning, "openid"}}},
		"a very long request": {
			"patient/*.rs " + strings.Repeat("patient/Observation.rs?category=laboratory ", 40),
			told{"scopes": {probe.Warning, "some servers reject more than 2048"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.used.Registration.Scope = test.scope
			got, text := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true})
			if name == "chosen at registration" {
				test.want["authorize"] = toldAs(probe.Failed, "invalid_scope") // the request has no data scopes
			}
			wantTold(t, name, got, test.want)
			w.wantNothingShown(t, text)
		})
	}
}

func TestRunWarnsAboutDroppedTypesWhenServerListsTooMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.used.Registration.Scope = ""
	resources := make([]string, 0, len(fhir.NeededTypes()))
	for _, name := range fhir.NeededTypes() {
		resources = append(resources, `{"type":"`+name+`","searchParam":[{"name":"patient"}]}`)
	}
	w.instead = answer{
		method: "GET", suffix: "/metadata", status: 200, mediaType: "application/fhir+json",
		body: `{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","format":["json"],"rest":[{"resource":[` +
			strings.Join(resources, ",") + `]}]}`,
	}
	got, _ := w.run(t, probe.Subject{Endpoint: w.endpoint("scopes:types-v2", "sandbox"), Stored: true})
	at := slices.IndexFunc(got["scopes"],
		func(s probe.Check) bool { return strings.Contains(s.Found, "within 2048 bytes") })
	if at < 0 {
		t.Fatalf("got %+v", got["scopes"])
	}
	step := got["scopes"][at]
	if step.Result != probe.Warning || !strings.Contains(step.Found, "Exports will omit their types") {
		t.Errorf("got %+v", step)
	}
	if n := strings.Count(step.Do, "patient/"); n < 50 ||
		!strings.Contains(step.Do, "registration set … -scope 'openid ") {
		t.Errorf("%d types in %s", n, step.Do)
	}
}

func toldAs(result probe.Result, text string) struct {
	result probe.Result
	text   string
} {
	return struct {
		result probe.Result
		text   string
	}{result, text}
}

// TestReportOmitsServerTextThatContainsSecret checks that the report includes the server's error description unless it
// contains a value that the test sent.
func TestReportOmitsServerTextThatContainsSecret(t *testing.T) {
	t.Parallel()
	for said, shown := range map[string]bool{
		"The code is not one of ours": true, "No client has the secret s3cret-of-the-sandbox": false,
		"line one\\nline two": true, "": false,
	} {
		w := newWorld(t)
		w.secret = "s3cret-of-the-sandbox"
		w.confidential("client_secret_post")
		body := `{"error":"invalid_grant","error_description":"` + said + `"}`
		w.instead = answer{method: "POST", suffix: "/oauth/token", status: 400, mediaType: "application/json", body: body}
		got, text := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true, TokenRequest: true})
		for _, step := range []string{"token_refresh", "token_code"} {
			if found := got[step][0].Found; strings.Contains(found, "The server says: ") != shown ||
				strings.Contains(found, "\n") {
				t.Errorf("%q: %s", said, found)
			}
		}
		w.wantNothingShown(t, text)
	}
}
