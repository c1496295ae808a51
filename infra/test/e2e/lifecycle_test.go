package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAPageOfOursSignsAPatientInFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		runWidget(o)
	})
}

func TestAPatientComesBackAfterADisconnectionFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		id := o.disconnect()
		o.checkStatus(id, "revoked")
		back := o.reconnect(id, crashPersona)
		if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
			t.Fatalf("the patient came back with %v", back)
		}
		o.checkStatus(id, "authorized")
		before := len(o.events("patient.ehi_export_success"))
		o.startExport(id)
		o.awaitEvents("patient.ehi_export_success", before+1)
	})
}

// disconnect is what anybody sees of it. It returns the connection's id.
func (o *outside) disconnect() (id string) {
	o.t.Helper()
	id = o.connect(crashPersona, "approve").Get("org_connection_id")
	done := o.startExport(id)
	o.awaitEvents("patient.ehi_export_success", 1)
	link := o.exportEvent().DownloadLinks[0].URL
	pending := o.asOwner(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true})
	if pending.status != http.StatusOK {
		o.t.Fatalf("a new export answered %d", pending.status)
	}
	for range 2 { // repeating it changes nothing
		got := o.asOwner(http.MethodDelete, "/bridge/org_connection/"+id, nil)
		if got.status != http.StatusOK || !strings.Contains(string(got.Data), `"status":"revoked"`) {
			o.t.Fatalf("DELETE answered %d %s", got.status, got.raw)
		}
	}
	if answer, _ := o.browser().open(link, "", ""); answer == nil || answer.status != http.StatusGone {
		o.t.Errorf("the file of task %s can still be downloaded: %v", done, answer)
	}
	return id
}
