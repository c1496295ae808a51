package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
)

// TestFacilityExportsUseDistinctResourceIDs exports a patient's records from two hospitals that report the same facts.
// An export after a second authorisation must contain the same IDs as the earlier export.
func TestFacilityExportsUseDistinctResourceIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		holder, first := map[string]string{}, map[string]map[string]bool{}
		for _, isFirst := range []bool{true, false} {
			connections := s.vault.connect(twoHospitals, "patient-7")
			if len(connections) != 2 {
				t.Fatalf("connected are %v", connections)
			}
			for facility, id := range connections {
				ids := exportedIDs(s, id)
				if isFirst {
					first[facility] = ids
				}
				for one := range ids {
					if other, known := holder[one]; known && other != facility {
						t.Errorf("%s is a resource of %s and of %s", one, other, facility)
					}
					holder[one] = facility
					if !first[facility][one] {
						t.Errorf("%s: %s had another id in the first export", facility, one)
					}
				}
				if len(ids) < 40 || len(ids) != len(first[facility]) {
					t.Errorf("%s: %d resources, and %d in the first export", facility, len(ids), len(first[facility]))
				}
			}
		}
	})
}

// exportedIDs exports a connection again, and returns the resource IDs in the file.
func exportedIDs(s *stack, connectionID string) map[string]bool {
	s.t.Helper()
	begun := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": connectionID, "refresh": true})
	var task struct {
		ID string `json:"task_id"`
	}
	expect.NoError(s.t, json.Unmarshal(begun.Data, &task))
	s.clock.advance(2)
	for _, sent := range s.webhooks.events("patient.ehi_export_success") {
		var body struct {
			Data exportData `json:"data"`
		}
		expect.NoError(s.t, json.Unmarshal([]byte(sent.Body), &body))
		if body.Data.TaskID != task.ID {
			continue
		}
		ids := map[string]bool{}
		for _, ofType := range s.org.download(body.Data.DownloadLinks[0].URL) {
			for id := range ofType {
				ids[id] = true
			}
		}
		return ids
	}
	s.t.Fatalf("the export %s of %s has not succeeded", task.ID, connectionID)
	return nil
}
