package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
)

// told holds the losses reported in an incomplete record.
type told struct {
	Complete *bool             `json:"complete"`
	Missing  map[string]string `json:"missing"`
}

func TestEventExportAndOutcomeReportSameLosses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		worker := s.functions["ExportWorkerFunction"]
		worker.declared.Environment = withValue(worker.declared.Environment, "SEND_DOWNLOAD_LINK", "true")
		id := s.ehr.connectTo(
			quirk{with: "deny:Condition,deny-500:Encounter,require-category,foreign-ref,other-patient"}).Get("org_connection_id")
		taskID := s.org.requestExport(t, map[string]any{"org_connection_id": id, "formats": []string{"jsonl", "outcome"}})
		s.clock.advance(5)
		events := s.webhooks.events("patient.ehi_export_success")
		if len(events) != 1 {
			t.Fatalf("got %d success events", len(events))
		}
		var event struct{ Data told }
		expect.NoError(t, json.Unmarshal([]byte(events[0].Body), &event))
		want := told{Complete: new(bool), Missing: map[string]string{
			"Condition": "refused", "Encounter": "rejected",
			"Location": "other_server", "Organization": "other_server", "Practitioner": "other_server",
		}}
		if diff := cmp.Diff(want, event.Data); diff != "" {
			t.Errorf("the event (-want +got):\n%s", diff)
		}
		var asked, file told
		expect.NoError(t,
			json.Unmarshal(s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result", nil).Data, &asked))
		expect.NoError(t, json.Unmarshal(s.org.checkFiles(t, taskID)["outcome"], &file))
		for name, got := range map[string]told{"the export": asked, "the outcome file": file} {
			if diff := cmp.Diff(event.Data, got); diff != "" {
				t.Errorf("%s (-event +got):\n%s", name, diff)
			}
		}
	})
}
