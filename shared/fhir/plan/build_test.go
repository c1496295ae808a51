package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// server returns an R4 CapabilityStatement that lists types, each as "Type" or "Type:param,param".
func server(types ...string) fhir.Capability {
	stated := fhir.Capability{FHIRVersion: "4.0.1"}
	for _, text := range types {
		name, params, _ := strings.Cut(text, ":")
		resource := fhir.CapabilityResource{Type: name}
		if params != "" {
			resource.SearchParams = strings.Split(params, ",")
		}
		stated.Resources = append(stated.Resources, resource)
	}
	return stated
}

// asked returns the searches of a plan in short form, with "/n" appended if _count is n instead of 100.
func asked(queries []plan.Query) []string {
	if queries == nil {
		return nil
	}
	lines := make([]string, 0, len(queries))
	for _, q := range queries {
		path := q.Path
		if path == "" {
			path = q.Type
		}
		values := q.Values()
		if values.Get("_count") == "100" {
			values.Del("_count")
		}
		line := path
		if len(values) > 0 {
			line += "?" + strings.ReplaceAll(values.Encode(), "%2C", ",")
		}
		lines = append(lines, line)
	}
	return lines
}

func build(f plan.Facts) plan.Plan {
	f.PatientID = "p"
	return plan.Build(f)
}

func check(t *testing.T, got []plan.Query, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, asked(got)); diff != "" {
		t.Error("searches (-want +got):\n" + diff)
	}
}

func TestBuildAppliesPlatformProfile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stated  fhir.Capability
		profile plan.Profile
		want    []string
	}{
		"Epic: its own care plans, observations by category": {
			stated: server("Observation:patient,category", "CarePlan:patient", "Condition:patient"),
			profile: plan.Profile{
				Needs: map[string][]string{"CarePlan": {"category"}, "Observation": {"category"}},
				Ways:  map[string][]string{"CarePlan": {"category=734163000", "category=assess-plan"}},
			},
			want: append([]string{
				"Condition?patient=p", "CarePlan?category=734163000&patient=p", "CarePlan?category=assess-plan&patient=p",
			}, observations("category=", "&patient=p")...),
		},
		"athenahealth: intent, no search for Provenance": {
			stated: server("MedicationRequest:patient,intent", "Provenance:patient", "Procedure:patient"),
			profile: plan.Profile{
				Needs: map[string][]string{"MedicationRequest": {"intent"}, "Provenance": {"_revinclude"}},
			},
			want: []string{"Procedure?patient=p", "MedicationRequest?intent=order,plan&patient=p"},
		},
		"eClinicalWorks: no _count": {
			stated: server("CarePlan", "CareTeam", "Goal", "Observation"),
			profile: plan.Profile{
				NoCount: []string{"CarePlan", "CareTeam"},
				Needs:   map[string][]string{"CarePlan": {"category"}, "CareTeam": {"status"}},
			},
			want: []string{
				"Goal?patient=p", "CarePlan?category=assess-plan&patient=p", "CarePlan?category=734163000&patient=p",
				"CarePlan?category=38717003&patient=p", "CareTeam?patient=p&status=active", "Observation?patient=p",
			},
		},
		"Cerner: appointments by date, no search for Patient": {
			stated: server("Patient:_id", "Appointment:patient,date", "MedicationRequest:patient"),
			profile: plan.Profile{
				Ways: map[string][]string{"Appointment": {"date=ge1900-01-01"}, "Patient": {"_id"}},
			},
			want: []string{"MedicationRequest?patient=p", "Appointment?date=ge1900-01-01&patient=p"},
		},
		"Quest: its categories only, though the statement is silent about patients": {
			stated: server("DiagnosticReport:category", "Observation", "Goal:_id"),
			profile: plan.Profile{Ways: map[string][]string{
				"Observation":      {"category=laboratory"},
				"DiagnosticReport": {"category=LAB"},
			}},
			want: []string{"Observation?category=laboratory&patient=p", "DiagnosticReport?category=LAB&patient=p"},
		},
		"a payer with $everything: the searches follow": {
			stated:  server("Coverage:patient", "ExplanationOfBenefit:patient"),
			profile: plan.Profile{Everything: true},
			want:    []string{"Patient/p/$everything", "Coverage?patient=p", "ExplanationOfBenefit?patient=p"},
		},
		"a way cannot ask for another patient": {
			stated:  server("Goal:patient"),
			profile: plan.Profile{Ways: map[string][]string{"Goal": {"patient=q&subject=Patient/q&_count=7&x=1", "%zz"}}},
			want:    []string{"Goal?patient=p&x=1"},
		},
		"a need that nothing is known about": {
			stated:  server("Observation:patient"),
			profile: plan.Profile{Needs: map[string][]string{"Observation": {"code"}}},
			want:    []string{"Observation?patient=p"},
		},
		"types that only the platform names": {
			stated: server("Media", "Basic:code", "Flag"),
			profile: plan.Profile{
				Needs: map[string][]string{"Flag": {"date"}, "Invoice": {"date"}}, Ways: map[string][]string{"Basic": {"x=1"}},
			},
			want: []string{"Basic?patient=p&x=1", "Flag?date=ge1900-01-01&patient=p"},
		},
		"two needs are asked together": {
			stated:  server("Condition:patient"),
			profile: plan.Profile{Needs: map[string][]string{"Condition": {"date", "category", "date"}}},
			want: []string{
				"Condition?category=problem-list-item&date=ge1900-01-01&patient=p",
				"Condition?category=health-concern&date=ge1900-01-01&patient=p",
				"Condition?category=encounter-diagnosis&date=ge1900-01-01&patient=p",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := build(plan.Facts{Capability: test.stated, Profile: test.profile})
			check(t, made.Queries, test.want...)
			if made.Denied != nil {
				t.Error("denied:", made.Denied)
			}
		})
	}
}

// observations returns the searches into which an R4 Observation query is split.
func observations(before, after string) []string {
	var lines []string
	for category := range strings.FieldsSeq(`laboratory vital-signs social-history survey exam imaging procedure therapy
		activity sdoh functional-status disability-status cognitive-status clinical-test observation-adi-documentation
		care-experience-preference treatment-intervention-preference`) {
		lines = append(lines, "Observation?"+before+category+after)
	}
	return lines
}

func TestBuildOmitsUndeclaredSearches(t *testing.T) {
	t.Parallel()
	made := build(plan.Facts{Capability: server(
		"Specimen:subject",        // in the patient compartment: the declared parameter is used
		"AdverseEvent:subject",    // in the order of the CapabilityStatement
		"Practitioner:name",       // not in the patient compartment
		"PaymentNotice:patient",   // not in the patient compartment
		"Task:patient",            // not in the patient compartment, but R4 allows searching it by patient
		"Flag",                    // in the patient compartment, but the server declares no search
		"Device:type",             // known type that is searched by a different parameter
		"Immunization",            // known type without declared parameters
		"Goal:subject,patient",    // the patient parameter takes precedence over subject
		"Claim:patient", "Claim:", // listed twice
		"AllergyIntolerance:patient",
		"Patient:_id",
	)})
	check(t, made.Queries, "AllergyIntolerance?patient=p", "Goal?patient=p", "Immunization?patient=p", "Claim?patient=p",
		"Specimen?subject=Patient%2Fp", "AdverseEvent?subject=Patient%2Fp", "Task?patient=p")
}

func TestBuildRequestsAllTypesWithoutCapabilityStatement(t *testing.T) {
	t.Parallel()
	made := build(plan.Facts{Profile: plan.Profile{Ways: map[string][]string{"AdverseEvent": {"x=1"}}}})
	check(t, made.Queries[:29], "AllergyIntolerance?patient=p", "Coverage?patient=p", "Device?patient=p",
		"Encounter?patient=p",
		"FamilyMemberHistory?patient=p", "Goal?patient=p", "Immunization?patient=p", "Procedure?patient=p",
		"QuestionnaireResponse?patient=p", "RelatedPerson?patient=p", "Condition?patient=p", "CarePlan?patient=p",
		"CareTeam?patient=p", "MedicationRequest?patient=p", "MedicationDispense?patient=p", "Observation?patient=p",
		"DiagnosticReport?patient=p", "DocumentReference?patient=p", "ServiceRequest?patient=p",
		"ExplanationOfBenefit?patient=p", "Claim?patient=p", "MedicationStatement?patient=p",
		"MedicationAdministration?patient=p", "Appointment?patient=p", "Account?patient=p", "NutritionOrder?patient=p",
		"Consent?patient=p", "ImagingStudy?patient=p", "AdverseEvent?subject=Patient%2Fp&x=1")
	rest := make([]string, 0, len(made.Queries)-29)
	for _, q := range made.Queries[29:] {
		rest = append(rest, q.Type)
		want := "patient=p"
		switch q.Type {
		case "SupplyRequest":
			want = "subject=Patient%2Fp"
		case "Group":
			want = "member=Patient%2Fp"
		case "Schedule":
			want = "actor=Patient%2Fp"
		}
		if q.Params != want {
			t.Errorf("%s is searched by %s, want %s", q.Type, q.Params, want)
		}
	}
	for _, wanted := range []string{"List", "Flag", "Provenance", "Task", "VisionPrescription"} {
		if !slices.Contains(rest, wanted) {
			t.Errorf("%s of the compartment is not asked for: %v", wanted, rest)
		}
	}
	if slices.Contains(rest, "MedicationOrder") || slices.Contains(rest, "Patient") || slices.Contains(rest, "Claim") {
		t.Errorf("asked for %v", rest)
	}
}

func TestBuildReturns44USCoreSearches(t *testing.T) {
	t.Parallel()
	made := build(plan.Facts{})
	slots := map[string]bool{}
	for _, q := range made.Queries[:19] {
		for _, one := range append(q.Alternatives(&fhir.RequestError{Class: fhir.Rejected, Refusal: fhir.NeedsMore}), q) {
			slots[one.Type+"?"+one.Params] = true
		}
	}
	if len(slots) < 44 {
		t.Error("slots:", len(slots))
	}
}

func TestBuildListsTypesDeniedByScopes(t *testing.T) {
	t.Parallel()
	stated := server("Condition:patient", "Observation:patient", "Flag:patient", "Practitioner:name", "Provenance:target")
	stated.Resources[0].RevIncludes = []string{"Provenance:target"}
	made := build(plan.Facts{
		Capability: stated, Granted: "openid patient/Condition.read patient/Goal.rs patient/Observation.r",
	})
	check(t, made.Queries, "Condition?patient=p")
	if diff := cmp.Diff([]string{"Observation", "Flag", "Provenance"}, made.Denied); diff != "" {
		t.Error("denied (-want +got):\n" + diff)
	}
	without := build(plan.Facts{Granted: "patient/Condition.read"})
	check(t, without.Queries, "Condition?patient=p")
	if without.Denied != nil {
		t.Error("denied, though nobody knows what the server has:", without.Denied)
	}
}

func TestBuildIncludesRelatedResourcesWhenDeclared(t *testing.T) {
	t.Parallel()
	stated := server("CareTeam:patient", "MedicationRequest:patient", "MedicationDispense:patient", "Goal:patient",
		"Provenance:target", "Procedure:patient")
	stated.Resources[0].Includes = []string{"*"}
	stated.Resources[1].Includes = []string{"MedicationRequest:requester", "MedicationRequest:medication"}
	stated.Resources[1].RevIncludes = []string{"Provenance:target"}
	stated.Resources[2].Includes = []string{"MedicationDispense:performer"}
	stated.Resources[3].RevIncludes = []string{"*"}
	stated.Resources[5].RevIncludes = []string{"Procedure:part-of"}
	profile := plan.Profile{Needs: map[string][]string{"MedicationRequest": {"intent"}, "Provenance": {"_revinclude"}}}

	all := build(plan.Facts{Capability: stated, Profile: profile})
	check(t, all.Queries, "Goal?_revinclude=Provenance%3Atarget&patient=p", "Procedure?patient=p",
		"CareTeam?_include=CareTeam%3Aparticipant&patient=p",
		"MedicationRequest?_include=MedicationRequest%3Amedication&_revinclude=Provenance%3Atarget&intent=order,"+
			"plan&patient=p",
		"MedicationDispense?patient=p")

	stated.Resources[4].SearchParams = nil // Without declared parameters, Provenance can be included but not searched.
	silent := build(plan.Facts{Capability: stated, Types: []string{"Goal", "Provenance"}})
	check(t, silent.Queries, "Goal?_revinclude=Provenance%3Atarget&patient=p")

	narrow := build(plan.Facts{Capability: stated, Granted: "patient/Goal.rs"})
	check(t, narrow.Queries, "Goal?patient=p")

	chosen := build(plan.Facts{Capability: stated, Types: []string{"Goal", "CareTeam"}})
	check(t, chosen.Queries, "Goal?patient=p", "CareTeam?patient=p")
}

func TestBuildAppliesTypesAndSinceOptions(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 1, 30, 0, 0, time.FixedZone("", 2*3600))
	stated := server("Condition:patient,_lastUpdated", "Goal:patient", "Flag:patient", "Procedure:patient")
	made := build(plan.Facts{
		Capability: stated, Since: since, Types: []string{"Patient", "Flag", "Condition", "Goal"},
		Granted: "patient/Condition.read patient/Goal.read", Profile: plan.Profile{Everything: true},
	})
	check(t, made.Queries, "Goal?patient=p", "Condition?_lastUpdated=ge2026-02-28T23%3A30%3A00Z&patient=p")
	if diff := cmp.Diff([]string{"Flag"}, made.Denied); diff != "" {
		t.Error("denied (-want +got):\n" + diff)
	}
	changed := build(plan.Facts{
		Capability: server("Goal:patient"), Since: since, Profile: plan.Profile{Everything: true},
	})
	check(t, changed.Queries, "Goal?patient=p")
	chosen := build(plan.Facts{
		Capability: server("Goal:patient"), Types: []string{"Goal"}, Profile: plan.Profile{Everything: true},
	})
	check(t, chosen.Queries, "Goal?patient=p")
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	facts := plan.Facts{PatientID: "p", Profile: plan.Profile{
		Everything: true,
		Ways: map[string][]string{
			"Flag": {"b=2&a=1"}, "Basic": {"x=1"}, "List": {"x=1"}, "Media": {"x=1"}, "Invoice": {"x=1"}, "Group": {"x=1"},
		},
		Needs: map[string][]string{"Observation": {"date", "category"}, "Composition": {"status"}, "Person": {"date"}},
	}}
	want := plan.Build(facts)
	for range 50 {
		if diff := cmp.Diff(want, plan.Build(facts)); diff != "" {
			t.Fatal("another plan (-want +got):\n" + diff)
		}
	}
}

func TestFollowedExcludesPatients(t *testing.T) {
	t.Parallel()
	for resourceType, want := range map[string]bool{
		"Practitioner": true, "PractitionerRole": true, "Binary": true, "Encounter": true, "Provenance": true,
		"Patient": false, "Group": false, "List": false, "": false,
	} {
		if got := plan.Followed(resourceType); got != want {
			t.Errorf("Followed(%q) = %v", resourceType, got)
		}
	}
}
