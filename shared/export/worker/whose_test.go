package worker_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// ownPatient is newFakeFHIR's patient with an earlier id, an identifier, and a reference to another patient outside
// Patient.link.
const ownPatient = `{"resourceType":"Patient","id":"p1","identifier":[{"system":"urn:mrn","value":"7"}],` +
	`"link":[{"other":{"reference":"Patient/p0"},"type":"replaces"}],` +
	`"contact":[{"extension":[{"valueReference":{"reference":"Patient/mother"}}]}]}`

func otherSpellings(id string) []string {
	return []string{
		"Patient/" + id, "/Patient/" + id, "./Patient/" + id, `Patient\\` + id, "patient/" + id, "Patient/" + id + "?x=1",
		"Patient/" + id + "/_history/1", "Patient/" + id + "#a", base + "/Patient/" + id,
		"https://other-host.example/fhir/r4/Patient/" + id,
		"http://other-host.example/Patient/" + id + "/_history/2?a=b",
	}
}

// whose maps resources without ids to whether each one belongs to patient p1.
func whose() map[string]bool {
	cases := map[string]bool{}
	for _, text := range otherSpellings("p1") {
		cases[`{"resourceType":"Observation","subject":{"reference":"`+text+`"}`] = true
	}
	members := map[string]string{
		"Observation": "subject", "Immunization": "patient", "Coverage": "beneficiary", "Task": "for",
		"ResearchSubject":   "individual",
		"EnrollmentRequest": "candidate", "Device": "patient", "Invented": "subject",
	}
	for _, text := range append(otherSpellings("p2"), "urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427",
		"Patient?identifier=urn:mrn|8", "p2", "#inner") {
		for resourceType, member := range members {
			cases[fmt.Sprintf(`{"resourceType":%q,%q:{"reference":%q}`, resourceType, member, text)] = false
		}
	}
	for _, text := range otherSpellings("p2") {
		cases[`{"resourceType":"Appointment","participant":[{"actor":{"reference":"`+text+`"}}]`] = false
		cases[`{"resourceType":"Provenance","target":[{"reference":"Observation/o1"},{"reference":"`+text+`"}]`] = false
		cases[`{"resourceType":"Appointment","participant":[{"actor":{"reference":"`+text+`"}},{"actor":{"reference":"P`+
			`atient/p1"}}]`] = true
	}
	for text, belongs := range map[string]bool{
		// one of the patient's earlier ids
		`"Observation","subject":{"reference":"Patient/p0"}`:                      true,
		`"Observation","subject":{"reference":"Patient/mother"}`:                  false,
		`"Observation","subject":{"identifier":{"system":"urn:mrn","value":"7"}}`: true,
		`"Observation","subject":{"identifier":{"system":"urn:mrn","value":"8"}}`: false,
		`"Observation","subject":{"identifier":{"value":"7"}}`:                    false,
		`"Observation","subject":{"type":"Group","identifier":{"value":"8"}}`:     true,
		`"Observation","subject":{"type":"http://hl7.org/fhir/StructureDefinition/Patient",` +
			`"identifier":{"value":"8"}}`: false,
		`"Observation","subject":{"display":"somebody"}`:                                              false,
		`"Observation","subject":{"reference":"Patient/p1","reference":"Patient/p2"}`:                 false,
		`"Observation","subject":{"reference":"Patient/p1"},"subject":{"reference":"Patient/p2"}`:     false,
		`"Observation","subject":{"reference":"Patient/p2"},"performer":[{"reference":"Patient/p1"}]`: false,
		`"Observation","subject":{"reference":"Patient/p1"},"performer":[{"reference":"Patient/p2"}]`: true,
		`"Observation","subject":{"reference":"Group/g"},"performer":[{"reference":"Patient/p2"}]`:    false,
		`"Observation","subject":{"reference":"Location/l"}`:                                          true,
		`"Observation"`: true, // names no patient, but was found by a search for p1
		`"Observation","subject":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason",` +
			`"valueCode":"masked"}]}`: true,
		`"Observation","contained":[{"resourceType":"Patient","id":"in","identifier":[{"system":"urn:mrn",` +
			`"value":"7"}]}],"subject":{"reference":"#in"}`: true,
		`"Observation","contained":[{"resourceType":"Patient","id":"in","identifier":[{"system":"urn:mrn",` +
			`"value":"8"}]}],"subject":{"reference":"#in"}`: false,
		`"Observation","contained":[{"resourceType":"Patient","id":"p1"}],"subject":{"reference":"#p1"}`:        false,
		`"Observation","contained":[{"resourceType":"Device","id":"in"}],"subject":{"reference":"#in"}`:         true,
		`"Account","subject":[{"reference":"Patient/p2"},{"reference":"Patient/p1"}]`:                           true,
		`"Coverage","beneficiary":{"reference":"Patient/p2"},"subscriber":{"reference":"Patient/p1"}`:           false,
		`"Appointment","participant":[{"actor":{"reference":"Practitioner/d1"}}]`:                               true,
		`"Appointment","participant":[{"actor":{"reference":"urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427"}}]`: false,
		`"Appointment","participant":[{"actor":{"type":"Patient","identifier":{"value":"8"}}}]`:                 false,
		`"Appointment","contained":[{"resourceType":"Patient","id":"in"}],` +
			`"participant":[{"actor":{"reference":"#in"}}]`: false,
		`"Person","link":[{"target":{"reference":"Patient/p2"}}]`:                                        false,
		`"Group","member":[{"entity":{"reference":"Patient/p2"}},{"entity":{"reference":"Patient/p1"}}]`: false,
		`"Group","member":[{"entity":{"reference":"Patient/p1","type":"Patient"}},` +
			`{"entity":{"reference":"Practitioner/d1"}}]`: true,
		`"AuditEvent","entity":[{"what":{"reference":"Patient/p2"}}]`: false,
		`"Basic","author":{"reference":"Patient/p2"}`:                 false,
		`"RelatedPerson","patient":{"reference":"Patient/p2"}`:        false,
		`"Provenance","target":[{"reference":"Observation/o1"}],"agent":[{"who":{"reference":"urn:uuid:1b4e28ba-2fa1-41` +
			`d2-883f-0016d3cca427"}}]`: true,
		`"Practitioner"`: true, `"Organization","partOf":{"reference":"Organization/g"}`: true,
		`"Medication","manufacturer":{"reference":"urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427"}`: true,
		`"Patient"`: false,
	} {
		cases[`{"resourceType":`+text] = belongs
	}
	return cases
}

// compartment lists the elements that link each type to a patient in R4's patient compartment
// (compartmentdefinition-patient.html). The list also contains these elements for types that are outside the
// compartment but refer to a patient.
const compartment = `Account.subject AdverseEvent.subject AllergyIntolerance.patient AllergyIntolerance.recorder
	AllergyIntolerance.asserter Appointment.participant.actor AppointmentResponse.actor AuditEvent.agent.who
	AuditEvent.entity.what Basic.subject Basic.author BodyStructure.patient CarePlan.subject
	CarePlan.activity.detail.performer CareTeam.subject CareTeam.participant.member ChargeItem.subject Claim.patient
	Claim.payee.party ClaimResponse.patient ClinicalImpression.subject Communication.subject Communication.sender
	Communication.recipient CommunicationRequest.subject CommunicationRequest.sender CommunicationRequest.recipient
	CommunicationRequest.requester Composition.subject Composition.author Composition.attester.party Condition.subject
	Condition.asserter Consent.patient Coverage.policyHolder Coverage.subscriber Coverage.beneficiary Coverage.payor
	CoverageEligibilityRequest.patient CoverageEligibilityResponse.patient DetectedIssue.patient DeviceRequest.subject
	DeviceRequest.performer DeviceUseStatement.subject DiagnosticReport.subject DocumentManifest.subject
	DocumentManifest.author DocumentManifest.recipient DocumentReference.subject DocumentReference.author Encounter.subject
	EnrollmentRequest.candidate EpisodeOfCare.patient ExplanationOfBenefit.patient ExplanationOfBenefit.payee.party
	FamilyMemberHistory.patient Flag.subject Goal.subject Group.member.entity ImagingStudy.subject Immunization.patient
	ImmunizationEvaluation.patient ImmunizationRecommendation.patient Invoice.subject Invoice.recipient List.subject
	List.source MeasureReport.subject Media.subject MedicationAdministration.subject
	MedicationAdministration.performer.actor MedicationDispense.subject MedicationDispense.receiver
	MedicationRequest.subject MedicationStatement.subject MolecularSequence.patient NutritionOrder.patient
	Observation.subject Observation.performer Person.link.target Procedure.subject Procedure.performer.actor
	Provenance.target QuestionnaireResponse.subject QuestionnaireResponse.author RelatedPerson.patient RequestGroup.subject
	RequestGroup.action.participant ResearchSubject.individual RiskAssessment.subject Schedule.actor ServiceRequest.subject
	ServiceRequest.performer Specimen.subject SupplyDelivery.patient SupplyRequest.deliverTo VisionPrescription.patient
	Task.for Task.owner GuidanceResponse.subject Device.patient Contract.subject MedicationOrder.patient
	DiagnosticOrder.subject ProcedureRequest.subject ReferralRequest.patient`

func TestCompartmentElementsDetermineResourceOwner(t *testing.T) {
	t.Parallel()
	var resources []string
	for path := range strings.FieldsSeq(compartment) {
		names := strings.Split(path, ".")
		for _, id := range []string{"p1", "p2"} {
			text := fmt.Sprintf(`{"reference":"Patient/%s"}`, id)
			for _, name := range slices.Backward(names[2:]) {
				text = fmt.Sprintf(`[{%q:%s}]`, name, text)
			}
			resources = append(resources, fmt.Sprintf(`{"resourceType":%q,%q:%s`, names[0], names[1], text))
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.types = []string{"Patient:_id", "Condition:patient"}
		for i, isKept := range exported(t, b, func() { b.finish(t) }, resources) {
			if isOurs := i%2 == 0; isKept != isOurs {
				t.Errorf("kept %t, want %t: %s", isKept, isOurs, resources[i])
			}
		}
	})
}

// exported runs an export whose search finds the given resources, and reports which of them are in the file.
func exported(t *testing.T, b *bench, run func(), resources []string) []bool {
	t.Helper()
	page := make([]string, 0, len(resources))
	for i, text := range resources {
		page = append(page, fmt.Sprintf(`{"resource":%s,"id":"case-%d"}}`, text, i))
	}
	b.server.resources[readPatient] = ownPatient
	b.server.script(findConditions, answer{
		status: 200,
		body:   `{"resourceType":"Bundle","entry":[` + strings.Join(page, ",") + `]}`,
	})
	run()
	file := string(b.object(t, b.task().Files[0].Key))
	kept, left := make([]bool, len(resources)), 0
	for i := range resources {
		kept[i] = strings.Contains(file, fmt.Sprintf(`"id":"case-%d"`, i))
		if !kept[i] {
			left++
		}
	}
	told := 0
	for _, o := range b.task().Outcome {
		told += o.LeftOut
	}
	if told != left {
		t.Errorf("%d resources are told to be left out, but %d are", told, left)
	}
	return kept
}

func TestResourcesOfOtherPatientsAreExcluded(t *testing.T) {
	t.Parallel()
	cases := whose()
	resources := slices.Sorted(maps.Keys(cases))
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.types = []string{"Patient:_id", "Condition:patient"}
		kept := exported(t, b, func() { b.finish(t) }, resources)
		for i, text := range resources {
			if kept[i] != cases[text] {
				t.Errorf("kept %t, want %t: %s", kept[i], cases[text], text)
			}
		}
	})
}

// A resource that names only another patient is excluded, regardless of its type and of how deeply the reference is
// nested.
func TestResourceIsExcludedWhenItNamesOnlyAnotherPatient(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		resources := make([]string, rapid.IntRange(1, 20).Draw(r, "resources"))
		for i := range resources {
			reference := fmt.Sprintf(`{"reference":%q}`, rapid.SampledFrom(otherSpellings("p2")).Draw(r, "spelling"))
			for range rapid.IntRange(0, 3).Draw(r, "depth") {
				reference = rapid.SampledFrom([]string{
					`[%s]`, `{"actor":%s}`, `[{"entity":%s}]`,
					`{"extension":[{"url":"a","valueReference":%s}]}`,
				}).Draw(r, "around")
				reference = fmt.Sprintf(reference, fmt.Sprintf(`{"reference":%q}`,
					rapid.SampledFrom(otherSpellings("p2")).Draw(r, "inner")))
			}
			resources[i] = fmt.Sprintf(`{"resourceType":%q,%q:%s`,
				rapid.SampledFrom([]string{
					"Observation", "Appointment", "Task", "Provenance", "Practitioner", "Invented", "Basic",
					"List",
				}).Draw(r, "type"),
				rapid.SampledFrom([]string{
					"subject", "patient", "performer", "participant", "for", "x", "author",
					"member",
				}).Draw(r, "member"), reference)
		}
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.server.types = []string{"Patient:_id", "Condition:patient"}
			for i, isKept := range exported(t, b, func() { b.finish(t) }, resources) {
				if isKept {
					r.Fatalf("in the file: %s", resources[i])
				}
			}
		})
	})
}
