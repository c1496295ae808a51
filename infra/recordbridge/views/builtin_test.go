package views_test

import (
	"strings"
	"testing"

	"recordbridge/infra/recordbridge/views"
)

// builtinRows holds a resource, and the columns that must have these values in its only row. All others must be NULL.
var builtinRows = []struct {
	view, resource string
	want           map[string]string
}{
	{"patients", `{"resourceType": "Patient", "id": "p1", "name": [{"family": "Gray"}, {"use": "official",
		"family": "Ferris", "given": ["Ada", "Bea"]}], "gender": "female", "birthDate": "1980-05",
		"deceasedDateTime": "2024-03-01", "telecom": [{"system": "email", "value": "a@example.com"},
		{"system": "phone", "value": "555-0100"}], "address": [{"city": "Springfield", "state": "MA",
		"postalCode": "01101", "country": "US"}], "communication": [{"language": {"coding": [{"code": "es"}]}}],
		"extension": [{"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race",
			"extension": [{"url": "text", "valueString": "White"}]},
			{"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity",
			"extension": [{"url": "text", "valueString": "Not Hispanic"}]}]}`, map[string]string{
		"patient_id": "p1", "family_name": "Ferris", "given_names": "Ada Bea", "birth_date": "1980-05", "gender": "female",
		"deceased_at": "2024-03-01", "race": "White", "ethnicity": "Not Hispanic", "language": "es",
		"city": "Springfield", "state": "MA", "postal_code": "01101", "country": "US", "phone": "555-0100",
		"email": "a@example.com",
	}},
	{
		"patients", `{"resourceType": "Patient", "id": "p2", "name": [{"family": "Gray"}], "deceasedBoolean": true}`,
		map[string]string{"patient_id": "p2", "family_name": "Gray", "deceased": "true"},
	},
	{"patients", `{"resourceType": "Patient", "id": "p3"}`, map[string]string{"patient_id": "p3"}},
	{"encounters", `{"resourceType": "Encounter", "id": "e1", "status": "finished", "class": {"code": "AMB"},
		"subject": {"reference": "Patient/p1"}, "type": [{"text": "Checkup", "coding": [{"system": "http://snomed.info/sct",
		"code": "185349003", "display": "Encounter for check up"}]}], "period": {"start": "2024-01-02T09:00:00Z",
		"end": "2024-01-02T09:30:00Z"}, "reasonCode": [{"coding": [{"code": "44054006", "display": "Diabetes"}]}],
		"location": [{"location": {"display": "Room 3"}}], "participant": [{"individual": {"display": "Dr. Hill"}}],
		"serviceProvider": {"display": "General Hospital"}}`, map[string]string{
		"encounter_id": "e1", "patient_id": "p1", "status": "finished", "class": "AMB", "code": "185349003",
		"code_system": "http://snomed.info/sct", "display": "Encounter for check up", "text": "Checkup",
		"start_at": "2024-01-02T09:00:00Z", "end_at": "2024-01-02T09:30:00Z", "reason_code": "44054006",
		"reason": "Diabetes", "location": "Room 3", "practitioner": "Dr. Hill", "organization": "General Hospital",
	}},
	{"conditions", `{"resourceType": "Condition", "id": "c1", "subject": {"reference": "Patient/p1"},
		"encounter": {"reference": "Encounter/e1"}, "category": [{"coding": [{"code": "problem-list-item"}]}],
		"clinicalStatus": {"coding": [{"code": "active"}]}, "verificationStatus": {"coding": [{"code": "confirmed"}]},
		"severity": {"coding": [{"display": "Moderate"}]}, "code": {"text": "Diabetes", "coding": [
			{"system": "http://snomed.info/sct", "code": "44054006", "display": "Diabetes mellitus type 2"},
			{"system": "http://hl7.org/fhir/sid/icd-10-cm", "code": "E11.9"}]}, "onsetPeriod": {"start": "2019"},
		"abatementDateTime": "2024-02", "recordedDate": "2019-05-01"}`, map[string]string{
		"condition_id": "c1", "patient_id": "p1", "encounter_id": "e1", "category": "problem-list-item",
		"clinical_status": "active", "verification_status": "confirmed", "code": "44054006",
		"code_system": "http://snomed.info/sct", "display": "Diabetes mellitus type 2", "text": "Diabetes",
		"snomed_code": "44054006", "icd10_code": "E11.9", "severity": "Moderate", "onset_at": "2019",
		"abatement_at": "2024-02", "recorded_at": "2019-05-01",
	}},
	{
		"medications", `{"resourceType": "MedicationRequest", "id": "m1", "status": "active", "intent": "order",
		"subject": {"reference": "Patient/p1"}, "encounter": {"reference": "Encounter/e1"}, "authoredOn": "2024-01-02",
		"requester": {"display": "Dr. Hill"}, "dispenseRequest": {"numberOfRepeatsAllowed": 3},
		"medicationCodeableConcept": {"text": "Metformin", "coding": [
			{"system": "http://www.nlm.nih.gov/research/umls/rxnorm", "code": "860975", "display": "Metformin 500 MG"}]},
		"dosageInstruction": [{"text": "twice daily", "doseAndRate": [{"doseQuantity": {"value": 0.50, "unit": "g"}}]}]}`,
		map[string]string{
			"medication_request_id": "m1", "patient_id": "p1", "encounter_id": "e1", "status": "active",
			"intent": "order", "code": "860975", "code_system": "http://www.nlm.nih.gov/research/umls/rxnorm",
			"display": "Metformin 500 MG", "text": "Metformin", "rxnorm_code": "860975", "authored_at": "2024-01-02",
			"dosage": "twice daily", "dose": "0.5", "dose_unit": "g", "refills": "3", "requester": "Dr. Hill",
		},
	},
	{"medications", `{"resourceType": "MedicationRequest", "id": "m2", "subject": {"reference": "Patient/p1"},
		"medicationReference": {"reference": "Medication/x1", "display": "Aspirin 81 MG"}}`, map[string]string{
		"medication_request_id": "m2", "patient_id": "p1", "medication_id": "x1", "display": "Aspirin 81 MG",
	}},
	{
		"medications", `{"resourceType": "MedicationRequest", "id": "m3", "medicationReference": {"reference": "#x"},
		"contained": [{"resourceType": "Medication", "id": "x", "code": {"text": "Aspirin", "coding": [{"code": "1"}]}}]}`,
		map[string]string{"medication_request_id": "m3", "text": "Aspirin", "code": "1"},
	},
	{"labs", `{"resourceType": "Observation", "id": "o1", "status": "final", "subject": {"reference": "Patient/p1"},
		"encounter": {"reference": "Encounter/e1"}, "category": [{"coding": [{"code": "laboratory"}]}],
		"code": {"text": "A1c", "coding": [{"system": "urn:local", "code": "17", "display": "HbA1c"},
			{"system": "http://loinc.org", "code": "4548-4"}]},
		"effectivePeriod": {"start": "2024-01-02T08:00:00Z"}, "issued": "2024-01-02T10:00:00.5+01:00",
		"valueQuantity": {"value": 6.10, "comparator": "<", "unit": "percent", "code": "%"},
		"interpretation": [{"coding": [{"code": "H"}]}],
		"referenceRange": [{"low": {"value": 4}, "high": {"value": 5.6}, "text": "4.0-5.6"}]}`, map[string]string{
		"observation_id": "o1", "patient_id": "p1", "encounter_id": "e1", "status": "final", "code": "17",
		"code_system": "urn:local", "display": "HbA1c", "text": "A1c", "loinc_code": "4548-4",
		"effective_at": "2024-01-02T08:00:00Z", "issued_at": "2024-01-02 10:00:00.5 +0100 +0100", "value": "6.1",
		"comparator": "<", "unit": "percent", "unit_code": "%", "interpretation": "H", "reference_low": "4",
		"reference_high": "5.6", "reference_text": "4.0-5.6",
	}},
	{
		"labs", `{"resourceType": "Observation", "id": "o2", "category": [{"coding": [{"code": "laboratory"}]}],
		"effectiveDateTime": "2024", "valueInteger": 7}`,
		map[string]string{"observation_id": "o2", "effective_at": "2024", "value": "7"},
	},
	{
		"labs", `{"resourceType": "Observation", "id": "o3", "category": [{"coding": [{"code": "laboratory"}]}],
		"valueCodeableConcept": {"coding": [{"code": "260373001", "display": "Detected"}]}}`,
		map[string]string{"observation_id": "o3", "value_code": "260373001", "value_display": "Detected"},
	},
	{
		"labs", `{"resourceType": "Observation", "id": "o4", "category": [{"coding": [{"code": "laboratory"}]}],
		"valueString": "negative", "dataAbsentReason": {"coding": [{"code": "error"}]}}`,
		map[string]string{"observation_id": "o4", "value_text": "negative", "absent_reason": "error"},
	},
	{"labs", `{"resourceType": "Observation", "id": "o5", "category": [{"coding": [{"code": "vital-signs"}]}]}`, nil},
}

func TestBuiltinViewsReturnColumns(t *testing.T) {
	t.Parallel()
	for _, test := range builtinRows {
		data, err := views.BuiltinJSON(test.view)
		if err != nil {
			t.Fatal(err)
		}
		v, err := views.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rows(t, v, test.resource)
		if err != nil {
			t.Errorf("%s: %v", test.view, err)
			continue
		}
		var cells []string
		if test.want != nil {
			for _, column := range v.Columns {
				cell, ok := test.want[column.Name]
				if !ok {
					cell = "-"
				}
				cells = append(cells, cell)
			}
		}
		if want := strings.Join(cells, "|"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", test.view, got, want)
		}
	}
}

func TestBuiltinViewsAreShareable(t *testing.T) {
	t.Parallel()
	for _, name := range views.BuiltinNames() {
		data, err := views.BuiltinJSON(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := views.Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v.Name != name || v.Description == "" || !strings.Contains(string(data), `"url": "urn:recordbridge:view:`+name) {
			t.Errorf("%s: a shareable view needs its name, a description and a URL", name)
		}
		columns := strings.Count(string(data), `"path": `) - strings.Count(string(data), `"where": [{"path": `)
		for _, element := range []string{"type", "description"} {
			count := strings.Count(string(data), `"`+element+`": `)
			if element == "description" {
				count-- // the view's own
			}
			if count != columns {
				t.Errorf("%s: %d of %d columns have a %s", name, count, columns, element)
			}
		}
	}
	if _, err := views.BuiltinJSON("../definition"); err == nil {
		t.Error("BuiltinJSON found a view outside its folder")
	}
}
