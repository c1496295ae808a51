package worker_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

// patientCompartment lists the types that can be searched by patient according to FHIR R4's
// compartmentdefinition-patient.html.
const patientCompartment = "Account AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic " +
	"BodyStructure " +
	"CarePlan CareTeam ChargeItem Claim ClaimResponse ClinicalImpression Communication CommunicationRequest Composition " +
	"Condition " +
	"Consent Coverage CoverageEligibilityRequest CoverageEligibilityResponse DetectedIssue DeviceRequest " +
	"DeviceUseStatement " +
	"DiagnosticReport DocumentManifest DocumentReference Encounter EnrollmentRequest EpisodeOfCare ExplanationOfBenefit " +
	"FamilyMemberHistory Flag Goal Group ImagingStudy Immunization ImmunizationEvaluation ImmunizationRecommendation " +
	"Invoice List " +
	"MeasureReport Media MedicationAdministration MedicationDispense MedicationRequest MedicationStatement " +
	"MolecularSequence " +
	"NutritionOrder Observation Patient Person Procedure Provenance QuestionnaireResponse RelatedPerson RequestGroup " +
	"ResearchSubject RiskAssessment Schedule ServiceRequest Specimen SupplyDelivery SupplyRequest VisionPrescription"

func TestOutcomeListsEveryTypeOfPatientCompartment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(b *bench)
		row    export.TypeOutcome // expected outcome of a type that is not requested
	}{
		"that the server lists or not": {
			func(*bench) {}, export.TypeOutcome{
				Type: "Schedule", Result: export.OutcomeUnsupported,
				Reason: export.LossUnsupported,
			},
		},
		"without a statement": {
			func(b *bench) { b.server.script("metadata", answer{status: 404, always: true}) },
			export.TypeOutcome{Type: "Schedule", Result: export.OutcomeUnsupported, Reason: export.LossUnsupported, Status: 404},
		},
		"without a statement, and not granted": {
			func(b *bench) {
				b.server.script("metadata", answer{status: 404, always: true})
				b.tokens.set.Scope = "patient/Patient.rs patient/Condition.rs"
			},
			export.TypeOutcome{Type: "Schedule", Result: export.OutcomeDenied, Reason: export.LossNotGranted},
		},
		"of a version that is R4's": {
			func(b *bench) { b.server.version = "4.3.0" },
			export.TypeOutcome{Type: "Schedule", Result: export.OutcomeUnsupported, Reason: export.LossUnsupported},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.change(b)
				b.finish(t)
				seen := map[string]int{}
				for _, o := range b.task().Outcome {
					seen[o.Type]++
				}
				for resourceType := range strings.FieldsSeq(patientCompartment) {
					if seen[resourceType] != 1 {
						t.Errorf("%s has %d rows", resourceType, seen[resourceType])
					}
				}
				if diff := cmp.Diff(c.row, outcomeOf(t, b.task(), "Schedule")); diff != "" {
					t.Errorf("row (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestOutcomeOmitsUnrequestedTypes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(task *export.Task) {
			task.Options = export.Options{Types: []string{"Condition", "Group", "MedicationOrder", "Practitioner"}}
		})
		b.work(t, 0)
		got := make([]string, 0, 5)
		for _, o := range b.task().Outcome {
			got = append(got, o.Type+" "+string(o.Result))
		}
		want := []string{"Patient ok", "Condition ok", "Practitioner ok", "Group unsupported", "MedicationOrder unsupported"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

func TestGroupsAndSchedulesAreFoundByMemberAndActor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.types = append(b.server.types, "Group:member", "Schedule:actor", "ResearchSubject:patient")
		b.server.pages["Group"] = []string{"mine shared"}
		b.server.pages["Schedule"] = []string{"s"}
		b.server.pages["ResearchSubject"] = []string{"r"}
		b.server.add(
			t,
			`{"resourceType":"Group","id":"mine","member":[{"entity":{"reference":"Patient/p1"}},`+
				`{"entity":{"reference":"Patient/p0"}}]}`,
			`{"resourceType":"Group","id":"shared","member":[{"entity":{"reference":"Patient/p1"}},`+
				`{"entity":{"reference":"Patient/p2"}}]}`,
			`{"resourceType":"Schedule","id":"s","actor":[{"reference":"Patient/p1"}]}`,
			`{"resourceType":"ResearchSubject","id":"r","individual":{"reference":"Patient/p1"},`+
				`"study":{"reference":"ResearchStudy/t"}}`,
			`{"resourceType":"ResearchStudy","id":"t","sponsor":{"reference":"Organization/g1"}}`,
		)
		b.work(t, 0)
		got := names(t, b.file(t))
		for _, name := range []string{"Group/mine", "Schedule/s", "ResearchSubject/r", "ResearchStudy/t"} {
			if !slices.Contains(got, name) {
				t.Errorf("%s is missing: %v", name, got)
			}
		}
		want := export.TypeOutcome{Type: "Group", Result: export.OutcomeOK, Count: 1, LeftOut: 1}
		if diff := cmp.Diff(want, outcomeOf(t, b.task(), "Group")); diff != "" || slices.Contains(got, "Group/shared") {
			t.Errorf("a group with others is in the file, or the outcome is wrong (-want +got):\n%s", diff)
		}
		if b.server.times("Group?_count=100&member=Patient%2Fp1") != 1 ||
			b.server.times("Schedule?_count=100&actor=Patient%2Fp1") != 1 {
			t.Errorf("asked for %v", b.server.asked)
		}
	})
}

// questionnaireBench returns a bench with a QuestionnaireResponse whose questionnaire is the given canonical URL.
func questionnaireBench(t *testing.T, canonical string) *bench {
	t.Helper()
	b := newBench(t)
	b.server.types = append(b.server.types, "QuestionnaireResponse:patient", "Questionnaire:url")
	b.server.pages["QuestionnaireResponse"] = []string{"a b"}
	b.server.pages["Questionnaire"] = []string{"q1"}
	b.server.add(
		t,
		`{"resourceType":"QuestionnaireResponse","id":"a","questionnaire":"`+canonical+
			`","subject":{"reference":"Patient/p1"}}`,
		`{"resourceType":"QuestionnaireResponse","id":"b","questionnaire":"`+canonical+
			`","item":[{"questionnaire":"https://elsewhere.example/Questionnaire/no"}]}`,
		`{"resourceType":"Questionnaire","id":"q1","url":"https://forms.example/phq"}`,
	)
	return b
}

func TestQuestionnaireIsFoundByCanonicalURL(t *testing.T) {
	t.Parallel()
	const byURL = "Questionnaire?_count=100&url=https%3A%2F%2Fforms.example%2Fphq"
	for name, c := range map[string]struct {
		canonical string
		change    func(b *bench)
		asked     string // request that must be sent exactly once
		want      export.TypeOutcome
	}{
		"of this server": {
			base + "/Questionnaire/q1", nil, "Questionnaire/q1",
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"of this server, a version": {
			base + "/Questionnaire/q1|2.0", nil, "Questionnaire/q1",
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"relative": {
			"Questionnaire/q1", nil, "Questionnaire/q1",
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"by its URL": {
			"https://forms.example/phq", nil, byURL,
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"by its URL, a version": {
			"https://forms.example/phq|2.0", nil, byURL,
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"by a URN": {
			"urn:oid:1.2.3", nil, "Questionnaire?_count=100&url=urn%3Aoid%3A1.2.3",
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"of a server behind a gateway": {
			base + "/Questionnaire/q1", func(b *bench) { b.server.own = "http://inner:8080/fhir" }, "Questionnaire/q1",
			export.TypeOutcome{Result: export.OutcomeOK, Count: 1},
		},
		"it is not there": {
			"https://forms.example/phq", func(b *bench) { b.server.pages["Questionnaire"] = []string{""} }, byURL,
			export.TypeOutcome{Result: export.OutcomeUnsupported, Missing: 1, Reason: export.LossNotFound},
		},
		"the search is refused": {
			"https://forms.example/phq",
			func(b *bench) { b.server.script("Questionnaire?*", answer{status: 403, always: true}) }, byURL,
			export.TypeOutcome{Result: export.OutcomeDenied, Missing: 1, Reason: export.LossRefused, Status: 403},
		},
		"there is no such search": {
			"https://forms.example/phq", func(b *bench) { b.server.types[len(b.server.types)-1] = "Questionnaire:name" }, "",
			export.TypeOutcome{Result: export.OutcomeUnsupported, Missing: 1, Reason: export.LossNotFound},
		},
		"it is not granted": {
			"https://forms.example/phq",
			func(b *bench) { b.tokens.set.Scope = "patient/Patient.rs patient/QuestionnaireResponse.rs" }, "",
			export.TypeOutcome{Result: export.OutcomeDenied, Missing: 1, Reason: export.LossNotGranted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := questionnaireBench(t, c.canonical)
				if c.change != nil {
					c.change(b)
				}
				b.work(t, 0)
				c.want.Type = "Questionnaire"
				if diff := cmp.Diff(c.want, outcomeOf(t, b.task(), "Questionnaire")); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				if got := b.server.times("Questionnaire?*") + b.server.times("Questionnaire/*"); c.asked == "" && got > 0 ||
					c.asked != "" && (got != 1 || b.server.times(c.asked) != 1) {
					t.Errorf("asked for %v", b.server.asked)
				}
				wantOnlyOurs(t, b.server)
			})
		})
	}
}

func TestHandoverBeforeQuestionnairePreservesFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := questionnaireBench(t, "https://forms.example/phq")
		b.server.pages["QuestionnaireResponse"] = []string{"a", "b"}
		b.server.script("QuestionnaireResponse?_count=100&page=1*", answer{status: 429, retryAfter: 120})
		limited := answer{status: 429, retryAfter: 120}
		b.server.script("Questionnaire?*", limited, limited)
		// The page and the questionnaire are requested concurrently, so their refusals may end the same run or two
		// different runs.
		if runs := b.finish(t); runs != 3 && runs != 4 {
			t.Errorf("%d runs, want 3 or 4", runs)
		}
		if got := outcomeOf(t, b.task(), "Questionnaire"); got.Count != 1 || got.Result != export.OutcomeOK {
			t.Errorf("outcome %+v", got)
		}
		if got := b.server.times("Questionnaire?*"); got != 3 {
			t.Errorf("asked %d times, want once before the first hand-over, once after it, and once after the second", got)
		}
	})
}
