package ccdatest_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

func resourcesOf(t *testing.T, ndjson []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range bytes.Lines(ndjson) {
		var resource map[string]any
		if err := json.Unmarshal(line, &resource); err != nil {
			t.Fatal(err)
		}
		all = append(all, resource)
	}
	return all
}

func ofType(all []map[string]any, kind string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(all), func(r map[string]any) bool { return r["resourceType"] != kind })
}

// withCode counts the resources of the given type that contain the code at any depth.
func withCode(t *testing.T, all []map[string]any, kind, code string) int {
	t.Helper()
	n := 0
	for _, r := range ofType(all, kind) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"code":"`+code+`"`)) {
			n++
		}
	}
	return n
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	_, documents := documentsIn(t, ownFolder)
	return documents[name]
}

func TestConvertIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{ownFolder, publicFolder} {
		names, documents := documentsIn(t, folder)
		all := make([][]byte, 0, len(names))
		for _, name := range names {
			all = append(all, documents[name])
			if !bytes.Equal(convert(t, documents[name]), convert(t, documents[name])) {
				t.Errorf("%s differs", name)
			}
		}
		forwards := convert(t, all...)
		slices.Reverse(all)
		if !bytes.Equal(forwards, convert(t, all...)) {
			t.Error("the order of the documents matters")
		}
		if twice := slices.Concat(all, all); !bytes.Equal(forwards, convert(t, twice...)) {
			t.Error("a document that comes twice counts twice")
		}
	}
}

// TestConvertMergesFactsFromTwoFacilities converts two facilities' documents about the same patient. The two documents
// share a hospital stay, and both contain facts with identical IDs.
func TestConvertMergesFactsFromTwoFacilities(t *testing.T) {
	t.Parallel()
	out := convert(t, read(t, "alder.xml"), read(t, "birch.xml"))
	all := resourcesOf(t, out)
	for _, c := range []struct {
		kind, code string
		want       int
	}{
		{"Condition", "59621000", 1},           // hypertension, recorded in both documents
		{"Condition", "385093006", 1},          // pneumonia, recorded in both documents and in four sections
		{"AllergyIntolerance", "7982", 1},      // penicillin allergy, recorded in both documents
		{"AllergyIntolerance", "385420005", 1}, // contrast agent allergy, recorded only by the hospital
		{"AllergyIntolerance", "762952008", 1}, // peanut allergy, recorded only by the clinic
		{"Encounter", "IMP", 1},                // hospital stay, recorded three times across the two documents
		{"MedicationAdministration", "2193", 1},
		{"Procedure", "52734007", 1}, // hip replacement, in two sections of the clinic's document
	} {
		if got := withCode(t, all, c.kind, c.code); got != c.want {
			t.Errorf("%d of %s with %s, want %d", got, c.kind, c.code, c.want)
		}
	}
	for kind, want := range map[string]int{"Patient": 1, "Composition": 2} {
		if got := len(ofType(all, kind)); got != want {
			t.Errorf("%d of %s, want %d", got, kind, want)
		}
	}
	sources := map[any]bool{}
	for _, p := range ofType(all, "Provenance") {
		text, err := json.Marshal(p["target"])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ofType(all, "Condition") {
			if id, _ := c["id"].(string); withCode(t, []map[string]any{c}, "Condition", "59621000") == 1 &&
				bytes.Contains(text, []byte(id)) {
				sources[p["meta"].(map[string]any)["source"]] = true
			}
		}
	}
	if len(sources) != 2 {
		t.Errorf("the hypertension is of %v, want both documents", sources)
	}
	facts := slices.Concat(factsOf(readXML(t, read(t, "alder.xml"))), factsOf(readXML(t, read(t, "birch.xml"))))
	checkRecall(t, "both", recall(facts, contentOf(t, out)))
}

// TestConvertKeepsFactsWhenDocumentsAreMerged converts all documents in a single call. HL7's sample documents reuse IDs
// for different facts, all of which must be kept.
func TestConvertKeepsFactsWhenDocumentsAreMerged(t *testing.T) {
	t.Parallel()
	var all [][]byte
	var facts []fact
	for _, folder := range []string{ownFolder, publicFolder} {
		_, documents := documentsIn(t, folder)
		for _, document := range documents {
			all = append(all, document)
			facts = append(facts, factsOf(readXML(t, document))...)
		}
	}
	out := convert(t, all...)
	checkRecall(t, "all", recall(facts, contentOf(t, out)))
	if got := len(ofType(resourcesOf(t, out), "Composition")); got != len(all) {
		t.Errorf("%d Compositions of %d documents", got, len(all))
	}
}

func TestConvertKeepsPatientsSeparate(t *testing.T) {
	t.Parallel()
	other := []byte(strings.NewReplacer("COMMUNITY-77", "COMMUNITY-78", "B-2002",
		"B-2003").Replace(string(read(t, "birch.xml"))))
	all := resourcesOf(t, convert(t, read(t, "alder.xml"), other))
	patients := map[any]bool{}
	for _, p := range ofType(all, "Patient") {
		patients["Patient/"+p["id"].(string)] = true
	}
	if len(patients) != 2 {
		t.Fatalf("%d patients, want 2", len(patients))
	}
	if got := withCode(t, all, "Condition", "59621000"); got != 2 {
		t.Errorf("%d patients have hypertension, want 2", got)
	}
	told := regexp.MustCompile(`"reference":"(Patient/[^"]+)"`)
	for _, r := range all {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]bool{}
		for _, m := range told.FindAllSubmatch(text, -1) {
			of[string(m[1])] = true
			if !patients[string(m[1])] {
				t.Errorf("%v is of %s, who is not there", r["resourceType"], m[1])
			}
		}
		if len(of) > 1 {
			t.Errorf("%v %v is of %d patients", r["resourceType"], r["id"], len(of))
		}
	}
}

func TestConvertReportCountsMatchResources(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{ownFolder, publicFolder} {
		_, documents := documentsIn(t, folder)
		for name, document := range documents {
			counts, ids := map[string]int{}, map[string]bool{}
			report, err := ccda.Convert(document, func(r ccda.Resource) error {
				var read struct{ ResourceType, ID string }
				if err := json.Unmarshal(r.JSON, &read); err != nil || read.ResourceType != r.Type || read.ID != r.ID ||
					ids[r.Type+r.ID] {
					t.Errorf("%s: %s %s is not what it is called: %v", name, r.Type, r.ID, err)
				}
				if bytes.ContainsAny(r.JSON, "\n\r") {
					t.Errorf("%s: %s %s has more than one line", name, r.Type, r.ID)
				}
				ids[r.Type+r.ID] = true
				counts[r.Type]++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for kind, n := range counts {
				if report.Resources[kind] != n {
					t.Errorf("%s: %d of %s reported, %d left", name, report.Resources[kind], kind, n)
				}
			}
		}
	}
}
