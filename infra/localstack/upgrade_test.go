package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/local/inbox"
)

// TestTheReceiverRefusesTheFirstAttemptsOfAnExportsEvent: other events, other receivers and the third attempt come through.
func TestTheReceiverRefusesTheFirstAttemptsOfAnExportsEvent(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	f.watch.Store(&watch{receiver: inboxPath + "/birch"})
	success, other := `{"type":"patient.ehi_export_success","data":{"task_id":"t-1"}}`, `{"type":"patient.connection_created"}`
	for i, test := range []struct {
		path, body string
		status     int
	}{
		{"/birch", other, 200},
		{"/alder", success, 200},
		{"/birch", success, 503},
		{"/birch", success, 503},
		{"/birch", success, 200},
	} {
		if got := sent(f, inboxPath+test.path, test.body); got != test.status {
			t.Errorf("%d, %s to %s: got %d, want %d", i, test.body, test.path, got, test.status)
		}
	}
	all := f.inbox.List()
	if last := all[len(all)-1]; len(all) != 3 || last.Path != inboxPath+"/birch" || last.Body != success {
		t.Errorf("the inbox has %v", all)
	}
}

func TestWhatTheSlowPortalIsAskedIsCounted(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	w := &watch{}
	f.watch.Store(w)
	asked(f, http.MethodGet, "localhost:4580", "/v1"+slow+"/fhir/Observation?patient=p")
	asked(f, http.MethodGet, "localhost:4580", "/v1/sandbox/fhir/Observation?patient=p")
	asked(f, http.MethodPost, "localhost:4580", "/v1"+slow+"/oauth/token")
	if got := w.asked.Load(); got != 1 {
		t.Errorf("counted %d, want 1", got)
	}
}

func TestAnEventCountsWhenItIsGenuine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		delivery inbox.Delivery
		want     bool
	}{
		"genuine":      {inbox.Delivery{Body: `{"type":"patient.ehi_export_success","data":{"task_id":"t-1"}}`, Signature: inbox.Verified}, true},
		"not signed":   {inbox.Delivery{Body: `{"type":"patient.ehi_export_success","data":{"task_id":"t-1"}}`, Signature: inbox.Wrong}, false},
		"another task": {inbox.Delivery{Body: `{"type":"patient.ehi_export_success","data":{"task_id":"t-2"}}`, Signature: inbox.Verified}, false},
		"a failure":    {inbox.Delivery{Body: `{"type":"patient.ehi_export_failed","data":{"task_id":"t-1"}}`, Signature: inbox.Verified}, false},
		"no JSON":      {inbox.Delivery{Body: `t-1`, Signature: inbox.Verified}, false},
	} {
		if got := delivered([]inbox.Delivery{test.delivery}, "t-1"); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestWhatDoesNotHappenIsNamed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := until(ctx, "it rains", func() bool { return false }); err == nil || !strings.Contains(err.Error(), "waiting until it rains") {
		t.Errorf("got %v", err)
	}
}
