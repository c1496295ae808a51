package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
)

// TestExportsAreWrittenToConfiguredFolder writes exports in every FHIR format to the folder named by
// RECORDBRIDGE_EXPORTS, for an external validator (.ci/ccda). The test exports two patients' records at a portal and
// two facilities' documents.
func TestExportsAreWrittenToConfiguredFolder(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("RECORDBRIDGE_EXPORTS")
	if folder == "" {
		t.Skip("RECORDBRIDGE_EXPORTS names no folder")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		for _, p := range persona.Builtin()[2:4] { // records of typical size
			writeExport(t, s, folder, "portal-"+p.ID, s.patient.connect(p.ID, "approve").Get("org_connection_id"))
		}
		connections := s.vault.connect(twoHospitals, "patient-7")
		if len(connections) != 2 {
			t.Fatalf("connected are %v", connections)
		}
		for id, connectionID := range connections {
			writeExport(t, s, folder, "facility-"+id[len(id)-1:], connectionID)
		}
	})
}

// writeExport exports a connection and writes each file under a name that contains its format.
func writeExport(t *testing.T, s *stack, folder, name, connectionID string) {
	t.Helper()
	taskID := s.org.requestExport(t, map[string]any{
		"org_connection_id": connectionID, "formats": []string{"fhir_bundle", "jsonl"},
	})
	s.clock.advance(3)
	var result struct {
		Links []struct {
			URL        string `json:"url"`
			ExportType string `json:"export_type"`
		} `json:"download_links"`
	}
	got := s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result", nil)
	expect.NoError(t, json.Unmarshal(got.Data, &result))
	if len(result.Links) != 2 {
		t.Fatalf("the export of %s is %s", name, got.raw)
	}
	for _, link := range result.Links {
		answer, _ := s.patient.browser().open(link.URL, "", "")
		if answer == nil || answer.status != http.StatusOK {
			t.Fatalf("%s answers %+v", link.ExportType, answer)
		}
		file := name + map[string]string{"jsonl": ".ndjson", "fhir_bundle": ".json"}[link.ExportType]
		expect.NoError(t, os.WriteFile(filepath.Join(folder, file), answer.body, 0o600))
	}
}
