package exporttest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
)

// The benchmark record has the resource types that Synthea generates and the same number of resources as the reference
// record.
const (
	wideResources = 1111
	wideTypes     = "Observation 438, Procedure 120, Claim 110, ExplanationOfBenefit 110, Encounter 96, " +
		"DiagnosticReport 90, " +
		"Condition 42, MedicationRequest 40, DocumentReference 28, Immunization 15, CarePlan 3, CareTeam 3, " +
		"AllergyIntolerance 2, " +
		"Device 2, SupplyDelivery 1"
)

// wideRecord returns a person with the benchmark record. The record contains inline documents and references only a few
// practitioners and organizations.
func wideRecord(tb testing.TB) persona.Persona {
	tb.Helper()
	var entries []map[string]any
	add := func(resourceType, id string, body map[string]any) {
		body["resourceType"], body["id"] = resourceType, id
		entries = append(entries, map[string]any{"resource": body})
	}
	add("Patient", "wide-record", map[string]any{"name": []any{map[string]any{"text": "Wide Record"}}})
	for i := range 6 {
		add("Practitioner", fmt.Sprintf("p%d", i), map[string]any{"active": true})
	}
	for i := range 4 {
		add("Organization", fmt.Sprintf("o%d", i), map[string]any{"active": true})
	}
	for one := range strings.SplitSeq(wideTypes, ", ") {
		var resourceType string
		var count int
		_, err := fmt.Sscanf(one, "%s %d", &resourceType, &count)
		expect.NoError(tb, err)
		for i := range count {
			add(resourceType, fmt.Sprintf("%s-%d", strings.ToLower(resourceType), i), belonging(resourceType, i))
		}
	}
	raw, err := json.Marshal(map[string]any{"resourceType": "Bundle", "type": "collection", "entry": entries})
	expect.NoError(tb, err)
	dir := tb.TempDir()
	expect.NoError(tb, os.WriteFile(filepath.Join(dir, "wide.json"), raw, 0o600))
	people, err := persona.LoadDir(dir)
	expect.NoError(tb, err)
	if len(people) != 1 || people[0].Resources != wideResources {
		tb.Fatalf("%d people, %d resources", len(people), people[0].Resources)
	}
	_, err = people[0].Load() // load the record before its folder is removed
	expect.NoError(tb, err)
	return people[0]
}

// belonging returns a resource that belongs to the patient. Three quarters of the resources reference a practitioner;
// the rest reference an organization.
func belonging(resourceType string, i int) map[string]any {
	patient := map[string]any{"reference": "Patient/wide-record"}
	body := map[string]any{"text": map[string]any{
		"status": "generated",
		"div":    "<div>" + strings.Repeat("x", 600) + "</div>",
	}}
	switch resourceType {
	case "Claim", "ExplanationOfBenefit", "Immunization", "AllergyIntolerance", "Device", "SupplyDelivery":
		body["patient"] = patient
	default:
		body["subject"] = patient
	}
	body["performer"] = map[string]any{"reference": fmt.Sprintf("Practitioner/p%d", i%6)}
	if i%4 == 0 {
		body["performer"] = map[string]any{"reference": fmt.Sprintf("Organization/o%d", i%16/4)}
	}
	if resourceType == "DocumentReference" {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("note ", 400)))
		body["content"] = []any{map[string]any{"attachment": map[string]any{"contentType": "text/plain", "data": text}}}
	}
	return body
}

func TestExportOf75SearchesIsFastWithSlowServer(t *testing.T) {
	t.Parallel()
	person := wideRecord(t)
	handler, err := newSandbox([]persona.Persona{person})
	expect.NoError(t, err)
	for _, c := range []struct {
		late, first, next time.Duration
		switches          string
	}{
		{late: 100 * time.Millisecond, first: 900 * time.Millisecond, next: 700 * time.Millisecond, switches: "batch:whole"},
		{late: time.Second, first: 8500 * time.Millisecond, next: 7 * time.Second, switches: "batch:whole"},
		// a server without batch support
		{late: time.Second, first: 13 * time.Second, next: 11 * time.Second, switches: "no-total"},
	} {
		t.Run(c.late.String()+" "+c.switches, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				known := newLearned(t)
				for nth, within := range []time.Duration{c.first, c.next, c.next} {
					server := &limitedServer{handler: handler, late: c.late}
					r := scenario{
						handler: server, person: person, switches: "all-types," + c.switches,
						label: fmt.Sprintf("wide-%v-%d", c.late, nth), known: known,
					}.run(t)
					checkWhole(t, r)
					t.Logf("%d resources in %v over %d requests, at most %d at once", r.task.Stats.TotalResources, r.took,
						server.asked, server.most)
					if r.took > within || server.most > 8 {
						t.Errorf("export %d: %v and %d at once, want %v and 8", nth, r.took, server.most, within)
					}
				}
			})
		})
	}
}
