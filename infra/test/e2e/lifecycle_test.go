package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestWidgetCanConnectPatientFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		runWidget(o)
	})
}

func TestPatientCanReconnectAfterDisconnectFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		id := o.org.disconnect()
		o.org.checkStatus(id, "revoked")
		back := o.patient.reconnect(id, crashPersona)
		if back.Get("org_connection_id") != id || back.Get("connection_status") != "authorized" {
			t.Fatalf("the patient came back with %v", back)
		}
		o.org.checkStatus(id, "authorized")
		before := len(o.webhooks.events("patient.ehi_export_success"))
		o.org.startExport(id)
		o.webhooks.awaitEvents("patient.ehi_export_success", before+1)
	})
}

// disconnect disconnects a patient, checks the client-visible effects, and returns the connection ID.
func (o organisation) disconnect() (id string) {
	o.t.Helper()
	id = o.patient.connect(crashPersona, "approve").Get("org_connection_id")
	done := o.org.startExport(id)
	o.webhooks.awaitEvents("patient.ehi_export_success", 1)
	link := o.webhooks.exportEvent().DownloadLinks[0].URL
	pending := o.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true})
	if pending.status != http.StatusOK {
		o.t.Fatalf("a new export answered %d", pending.status)
	}
	for range 2 { // repeating the request has no further effect
		got := o.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil)
		if got.status != http.StatusOK || !strings.Contains(string(got.Data), `"status":"revoked"`) {
			o.t.Fatalf("DELETE answered %d %s", got.status, got.raw)
		}
	}
	if answer, _ := o.patient.browser().open(link, "", ""); answer == nil || answer.status != http.StatusGone {
		o.t.Errorf("the file of task %s can still be downloaded: %v", done, answer)
	}
	return id
}
