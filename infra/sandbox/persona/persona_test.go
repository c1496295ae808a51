package persona_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox/persona"
)

var (
	fhirID    = regexp.MustCompile(`^[A-Za-z0-9.-]{1,64}$`)
	reference = regexp.MustCompile(`"(?:reference|url)":"([A-Z][A-Za-z]+/[^"]+)"`)
)

func load(t *testing.T, p persona.Persona) []persona.Resource {
	t.Helper()
	resources, err := p.Load()
	if err != nil {
		t.Fatalf("load %s: %v", p.ID, err)
	}

	return resources
}

func fingerprint(resources []persona.Resource) string {
	sum := sha256.New()
	for _, r := range resources {
		sum.Write(r.Body)
	}

	return hex.EncodeToString(sum.Sum(nil))
}

func TestBuiltinPersonasRangeFromSmallToLargeRecords(t *testing.T) {
	t.Parallel()
	people := persona.Builtin()
	got := make([]int, 0, len(people))
	for _, p := range people {
		size := len(load(t, p))
		got = append(got, size)
		if size != p.Resources {
			t.Errorf("%s: %d resources, want the announced %d", p.ID, size, p.Resources)
		}
	}
	if diff := cmp.Diff([]int{8, 32, 75, 200, 450, 900, 2000}, got); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}

func TestBuiltinRecordsAreDeterministic(t *testing.T) {
	t.Parallel()
	again := persona.Builtin()
	got := map[string]string{}
	for i, p := range persona.Builtin() {
		got[p.ID] = fingerprint(load(t, p))[:12]
		if second := fingerprint(load(t, again[i]))[:12]; second != got[p.ID] {
			t.Errorf("%s: two runs differ: %s, %s", p.ID, got[p.ID], second)
		}
	}
	// Records are identical in every process and on every machine. After an intentional change to the generator, update
	// these hashes.
	want := map[string]string{
		"alder-maple":  "5862dd7f44bd",
		"cedar-brook":  "91767f601577",
		"hazel-fern":   "d74ea1a12e71",
		"juniper-vale": "8f85dd5b24f5",
		"linden-moss":  "46a75b34103f",
		"rowan-birch":  "9984d1058539",
		"willow-ash":   "22860d5e6271",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
}

func TestBuiltinReferencesResolveWithinRecord(t *testing.T) {
	t.Parallel()
	for _, p := range persona.Builtin() {
		resources := load(t, p)
		held := map[string]bool{}
		for _, r := range resources {
			key := r.Type + "/" + r.ID
			if held[key] || !fhirID.MatchString(r.ID) {
				t.Errorf("%s: %s is a duplicate or no FHIR id", p.ID, key)
			}
			held[key] = true
		}
		if first := resources[0]; first.Type != "Patient" || first.ID != p.PatientID {
			t.Errorf("%s: the first resource is %s/%s, want the Patient", p.ID, first.Type, first.ID)
		}
		for _, r := range resources {
			for _, match := range reference.FindAllSubmatch(r.Body, -1) {
				if !held[string(match[1])] {
					t.Errorf("%s: %s/%s refers to %s, which is not in the record", p.ID, r.Type, r.ID, match[1])
				}
			}
		}
	}
}

func TestBuiltinResourceBodiesMatchTypeAndID(t *testing.T) {
	t.Parallel()
	types := map[string]bool{}
	for _, p := range persona.Builtin() {
		for _, r := range load(t, p) {
			types[r.Type] = true
			var body map[string]any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatalf("%s/%s: %v", r.Type, r.ID, err)
			}
			if body["resourceType"] != r.Type || body["id"] != r.ID {
				t.Errorf("%s/%s says it is %v/%v", r.Type, r.ID, body["resourceType"], body["id"])
			}
			for _, name := range required(r.Type) {
				if body[name] == nil {
					t.Errorf("%s/%s lacks %s, which R4 requires", r.Type, r.ID, name)
				}
			}
		}
	}
	got := slices.Sorted(maps.Keys(types))
	if diff := cmp.Diff(persona.Builtin()[0].Types, got); diff != "" {
		t.Errorf("announced types (-want +got):\n%s", diff)
	}
}

// required returns the R4 elements that have a minimum cardinality of 1.
func required(resourceType string) []string {
	return map[string][]string{
		"AllergyIntolerance": {"patient"},
		"Binary":             {"contentType", "data"},
		"CarePlan":           {"status", "intent", "subject"},
		"Claim":              {"status", "type", "use", "patient", "created", "provider", "priority", "insurance"},
		"Condition":          {"subject"},
		"Coverage":           {"status", "beneficiary", "payor"},
		"DiagnosticReport":   {"status", "code"},
		"DocumentReference":  {"status", "content"},
		"Encounter":          {"status", "class"},
		"ExplanationOfBenefit": {
			"status", "type", "use", "patient", "created", "insurer", "provider", "outcome",
			"insurance",
		},
		"FamilyMemberHistory": {"status", "patient", "relationship"},
		"Goal":                {"lifecycleStatus", "description", "subject"},
		"Immunization":        {"status", "vaccineCode", "patient", "occurrenceDateTime"},
		"MedicationRequest":   {"status", "intent", "subject"},
		"Observation":         {"status", "code"},
		"Procedure":           {"status", "subject"},
		"Provenance":          {"target", "recorded", "agent"},
		"RelatedPerson":       {"patient"},
		"ServiceRequest":      {"status", "intent", "subject"},
	}[resourceType]
}

func TestBuiltinRecordsContainInlineAndBinaryNotes(t *testing.T) {
	t.Parallel()
	for _, p := range persona.Builtin()[1:] {
		inline, linked, pdf := 0, 0, 0
		for _, r := range load(t, p) {
			var body struct {
				Data    string `json:"data"`
				Content []struct {
					Attachment struct{ URL, Data string }
				}
			}
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			for _, c := range body.Content {
				if c.Attachment.Data != "" {
					inline++
				}
				if c.Attachment.URL != "" {
					linked++
				}
			}
			if data, err := base64.StdEncoding.DecodeString(body.Data); err == nil && bytes.HasPrefix(data, []byte("%PDF-")) {
				pdf++
			}
		}
		if inline < 2 || linked < 2 || pdf < 1 {
			t.Errorf("%s: %d inline, %d linked, %d PDF, want some of each", p.ID, inline, linked, pdf)
		}
	}
}
