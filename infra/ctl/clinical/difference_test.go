package clinical_test

import (
	"encoding/json"
	"testing"

	"recordbridge/infra/ctl/clinical"
)

const (
	patient      = `{"resourceType":"Patient","id":"p","gender":"female"}`
	practitioner = `{"resourceType":"Practitioner","id":"d","identifier":[{"system":"npi","value":"99"}]}`
	fever        = `{"resourceType":"Observation","id":"o","status":"final","code":{"coding":[{"system":"l",` +
		`"code":"8310-5"}]},"effectiveDateTime":"2025-01-01",` +
		`"subject":{"reference":"Patient/p"},"performer":[{"reference":"Practitioner/d"}],` +
		`"valueQuantity":{"value":38.0,"unit":"Cel"}}`
	order = `{"resourceType":"MedicationRequest","id":"m","status":"active",` +
		`"medicationReference":{"reference":"Medication/x"}}` +
		"\n" + `{"resourceType":"Medication","id":"x","code":{"text":"syrup"}}`
)

func TestCompareIgnoresIDsNarrativesAndOrder(t *testing.T) {
	t.Parallel()
	before := patient + practitioner + fever + order
	for name, test := range map[string]struct{ after, want string }{
		"ids, order, narratives and identifiers": {
			`{"resourceType":"Observation","id":"o2","text":{"div":"x"},"identifier":[{"value":"1"}],"status":"final",` +
				`"code":{"coding":[{"system":"l","code":"8310-5"}]},` +
				`"effectiveDateTime":"2025-01-01","subject":{"reference":"Patient/q"},` +
				`"performer":[{"reference":"Practitioner/e"}],"valueQuantity":{"value":38.0,"unit":"Cel"}}` +
				`{"resourceType":"Patient","id":"q","gender":"female"}{"resourceType":"Practitioner","id":"e",` +
				`"identifier":[{"system":"npi","value":"99"}]}` + order,
			`{"added":[],"removed":[],"changed":[]}`,
		},
		"a value": {
			patient + practitioner +
				`{"resourceType":"Observation","id":"o","status":"final","code":{"coding":[{"system":"l","code":"8310-5"}]},` +
				`"effectiveDateTime":"2025-01-01",` +
				`"subject":{"reference":"Patient/p"},"performer":[{"reference":"Practitioner/d"}],` +
				`"valueQuantity":{"value":38,"unit":"Cel"}}` + order,
			`{"added":[],"removed":[],"changed":[{"type":"Observation","code":"l|8310-5","time":"2025-01-01",` +
				`"parts":{"valueQuantity.value":{"before":["38.0"],"after":["38"]}}}]}`,
		},
		"who has done it": {
			patient + `{"resourceType":"Practitioner","id":"d","identifier":[{"system":"npi","value":"98"}]}` + fever + order,
			`{"added":[],"removed":[],"changed":[{"type":"Observation","code":"l|8310-5","time":"2025-01-01",` +
				`"parts":{"performer.reference":{"before":["Practitioner npi|99"],"after":["Practitioner npi|98"]}}}]}`,
		},
		"a fact less": {
			patient + practitioner + order,
			`{"added":[],"removed":[{"type":"Observation","code":"l|8310-5","time":"2025-01-01"}],"changed":[]}`,
		},
		"a fact twice": {
			before + fever, `{"added":[{"type":"Observation","code":"l|8310-5","time":"2025-01-01"}],"removed":[],"changed":[]}`,
		},
		"another product": {
			patient + practitioner + fever +
				`{"resourceType":"MedicationRequest","id":"m","status":"active",` +
				`"medicationReference":{"reference":"Medication/x"}}` +
				`{"resourceType":"Medication","id":"x","code":{"text":"pill"}}`,
			`{"added":[{"type":"MedicationRequest","code":"pill"}],"removed":[{"type":"MedicationRequest",` +
				`"code":"syrup"}],"changed":[]}`,
		},
	} {
		first, err := clinical.Read([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		second, err := clinical.Read([]byte(test.after))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(clinical.Compare(first, second))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, test.want)
		}
	}
	if _, err := clinical.Read([]byte(patient + "[1]")); err == nil || err.Error() != "resource 2 is not a JSON object" {
		t.Errorf("Read of a list: %v", err)
	}
}
