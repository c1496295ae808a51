package e2e_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recordbridge/infra/local/inbox"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
)

// exportData is the data member of a patient.ehi_export_success event.
type exportData struct {
	DownloadLinks []struct {
		URL         string `json:"url"`
		ExportType  string `json:"export_type"`
		ContentType string `json:"content_type"`
	} `json:"download_links"`
	ConnectionID string `json:"org_connection_id"`
	TaskID       string `json:"task_id"`
	OrgID        string `json:"org_id"`
	Stats        struct {
		Total  int            `json:"total_resources"`
		ByType map[string]int `json:"total_by_resource_type"`
	} `json:"stats"`
	Manifest struct {
		URL       string `json:"url"`
		Signature string `json:"signature"`
	} `json:"manifest"`
}

func (o organisation) startExport(connectionID string) string {
	o.t.Helper()
	got := o.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]string{"org_connection_id": connectionID})
	var task struct {
		ID     string `json:"task_id"`
		Status string `json:"status"`
	}
	if got.status != http.StatusOK {
		o.t.Fatalf("POST ehi-export answered %d %s", got.status, got.Error)
	}
	expect.NoError(o.t, json.Unmarshal(got.Data, &task))
	return task.ID
}

// events verifies and returns the webhook deliveries of a type to the first organisation.
func (o webhooks) events(eventType string) []inbox.Delivery {
	o.t.Helper()
	var found []inbox.Delivery
	told := map[string]string{} // path to which each event was first delivered, by event ID
	for _, d := range o.received() {
		var body struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		}
		expect.NoError(o.t, json.Unmarshal([]byte(d.Body), &body))
		first, known := told[body.ID]
		told[body.ID] = cmp.Or(first, d.Path)
		if body.Type != eventType || o.webhooks.secretOf(d) == "" ||
			known && first != d.Path { // skip an event that was first delivered to another webhook
			continue
		}
		verifier, err := standardwebhooks.NewWebhook(o.webhooks.secretOf(d))
		expect.NoError(o.t, err)
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		// The verifier's timestamp check would use the wall clock, not virtual time.
		expect.NoError(o.t, verifier.VerifyIgnoringTimestamp([]byte(d.Body), header))
		found = append(found, d)
	}
	return found
}

func (o webhooks) exportEvent() exportData {
	o.t.Helper()
	sent := o.webhooks.events("patient.ehi_export_success")
	if len(sent) != 1 {
		failed := o.webhooks.events("patient.ehi_export_failed")
		o.t.Fatalf("got %d success events, want 1 (failed: %d)", len(sent), len(failed))
	}
	var body struct {
		Data exportData `json:"data"`
	}
	expect.NoError(o.t, json.Unmarshal([]byte(sent[0].Body), &body))
	return body.Data
}

// download follows an event's link without a key, and returns the IDs of the file's resources by type.
func (o organisation) download(link string) map[string]map[string]int {
	o.t.Helper()
	response, _ := o.patient.browser().open(link, "", "")
	if response.status != http.StatusOK || response.header.Get("Content-Type") != "application/fhir+ndjson" {
		o.t.Fatalf("the download answered %d %s", response.status, response.header.Get("Content-Type"))
	}
	found := map[string]map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(response.body))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var resource struct {
			Type string `json:"resourceType"`
			ID   string `json:"id"`
		}
		expect.NoError(o.t, json.Unmarshal(lines.Bytes(), &resource))
		if found[resource.Type] == nil {
			found[resource.Type] = map[string]int{}
		}
		found[resource.Type][resource.ID]++
	}
	expect.NoError(o.t, lines.Err())
	return found
}

func TestPersonaRecordsAreExportedCompletelyFromOutside(t *testing.T) {
	t.Parallel()
	for _, p := range sampleIfShort(persona.Builtin()) {
		t.Run(p.ID, func(t *testing.T) {
			t.Parallel()
			want := recordOf(t, p)
			fromOutside(t, func(t *testing.T, o *outside) {
				t.Helper()
				checkExport(t, o, p.ID, want)
			})
		})
	}
}

func recordOf(t *testing.T, p persona.Persona) map[string]map[string]int {
	t.Helper()
	resources, err := p.Load()
	expect.NoError(t, err)
	record := map[string]map[string]int{}
	for _, r := range resources {
		if record[r.Type] == nil {
			record[r.Type] = map[string]int{}
		}
		record[r.Type][r.ID] = 1
	}
	return record
}

func checkExport(t *testing.T, s *outside, personaID string, want map[string]map[string]int) {
	t.Helper()
	result := s.patient.connect(personaID, "approve")
	if result.Get("connection_status") != "authorized" || result.Get("external_id") != "patient-7" ||
		result.Get("external_state") != "state-9" {
		t.Fatalf("the application got %v", result)
	}
	taskID := s.org.startExport(result.Get("org_connection_id"))
	s.webhooks.awaitEvents("patient.ehi_export_success", 1)
	data := s.webhooks.exportEvent()
	if data.TaskID != taskID || data.ConnectionID != result.Get("org_connection_id") || len(data.DownloadLinks) != 1 {
		t.Fatalf("the event says %+v", data)
	}
	checkRecord(t, s, data, want)
}

func checkRecord(t *testing.T, s *outside, data exportData, want map[string]map[string]int) {
	t.Helper()
	got := s.org.download(data.DownloadLinks[0].URL)
	total := 0
	for resourceType, ids := range want {
		total += len(ids)
		if !maps.Equal(got[resourceType], ids) {
			t.Errorf("%s: got %d of %d resources", resourceType, len(got[resourceType]), len(ids))
		}
		if data.Stats.ByType[resourceType] != len(ids) {
			t.Errorf("%s: the event counts %d, want %d", resourceType, data.Stats.ByType[resourceType], len(ids))
		}
	}
	if len(got) != len(want) || data.Stats.Total != total {
		t.Errorf("got %d types and %d resources, want %d and %d", len(got), data.Stats.Total, len(want), total)
	}
}

func TestConcurrentExportRequestsCreateOneTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		connectionID := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
		var mu sync.Mutex
		tasks := map[string]int{}
		var requests sync.WaitGroup
		for range 50 {
			requests.Go(func() {
				id := s.org.startExport(connectionID)
				mu.Lock()
				defer mu.Unlock()
				tasks[id]++
			})
		}
		requests.Wait()
		if len(tasks) != 1 {
			t.Fatalf("50 requests made %d tasks", len(tasks))
		}
		s.clock.advance(2)
		data := s.webhooks.exportEvent()
		if got := s.state.objects(); len(got) != 2 {
			t.Errorf("the bucket holds %v, want one file and its manifest", got)
		}
		if again := s.org.startExport(connectionID); again != data.TaskID {
			t.Errorf("a request after the success opened task %s, want %s", again, data.TaskID)
		}
		s.clock.advance(1)
		s.webhooks.exportEvent() // a recent success event must not be sent again
		<-time.After(6 * time.Minute)
		s.org.startExport(connectionID)
		s.clock.advance(1)
		if got := len(s.webhooks.events("patient.ehi_export_success")); got != 2 {
			t.Errorf("six minutes later the event was sent %d times, want 2", got)
		}
	})
}

func TestDeniedConsentCreatesRejectedConnectionFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		result := s.patient.connect("alder-maple", "deny")
		if result.Get("error") != "access_denied" || result.Get("request_id") == "" ||
			result.Get("external_state") != "state-9" {
			t.Fatalf("the application got %v", result)
		}
		s.webhooks.awaitEvents("patient.connection_success", 1)
		sent := s.webhooks.events("patient.connection_success")
		if len(sent) != 1 || !strings.Contains(sent[0].Body, `"connection_status":"rejected"`) {
			t.Fatalf("got %d connection events: %v", len(sent), sent)
		}
		var body struct {
			Data struct {
				ID string `json:"org_connection_id"`
			} `json:"data"`
		}
		expect.NoError(t, json.Unmarshal([]byte(sent[0].Body), &body))
		got := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export", map[string]string{"org_connection_id": body.Data.ID})
		if got.status != http.StatusConflict || got.Error != "svc_connection_not_exportable" {
			t.Errorf("an export of it answered %d %s", got.status, got.Error)
		}
	})
}

func TestCallbackInAnotherBrowserIsRejectedFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		attacker, victim := s.patient.browser(), s.patient.browser()
		begin, err := url.Parse(s.patient.connectURL())
		expect.NoError(t, err)
		portal := attacker.get(begin).location()
		answer, last := victim.open(portal.String(), "alder-maple", "approve")
		if answer == nil || answer.status != http.StatusBadRequest ||
			!strings.HasPrefix(last.String(), s.patient.callback()+"?") {
			t.Fatalf("the victim's browser ended at %v", last)
		}
		if got := s.org.countConnections(); got != 0 {
			t.Errorf("there are %d connections", got)
		}
	})
}
