package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/operator"
)

type scenario struct {
	name    string
	options options
	run     func(s *stack)
	costly  bool
}

// scenarios returns scenarios that together cover every call the functions can make.
func scenarios(tb testing.TB) []scenario {
	tb.Helper()
	all := cheapScenarios()
	if !isSoak() {
		return all
	}
	large := largeRecord(tb)
	return slices.Concat(all, []scenario{
		{
			name: "an export that takes longer than a function may", options: options{dataDir: large}, run: runLongExport,
			costly: true,
		},
		{name: "an export that loses its portal", options: options{dataDir: large}, run: runBrokenExport, costly: true},
	})
}

// cheapScenarios returns the scenarios that do not need a large record.
func cheapScenarios() []scenario {
	return []scenario{
		{name: "the main job", run: runMainJob},
		{name: "tokens that have to be renewed", run: runRenewal},
		{name: "messages that get lost", run: runLostMessages},
		{name: "a webhook that fails at first", run: runRetriedWebhook},
		{name: "a webhook that is gone", run: runGoneWebhook},
		{name: "events that are delivered together", run: runTogether},
		{name: "e-mails to an organisation", run: runNotices},
		{name: "an export from a slow portal", run: runSlowExport},
		{name: "an export that waits for another", run: runWaitingExport},
		{name: "tokens that nobody asks for", run: runKeepAlive},
		{name: "a token endpoint that moves", run: runMove},
		{name: "consent that was withdrawn", run: runRevocation},
		{name: "consent that was withdrawn, as an export finds out", run: runRevocationByExport},
		{name: "consent that is about to end", run: runWarning},
		{name: "a patient who comes back", run: runReconnect},
		{name: "a connection that is given up", run: runDisconnect},
		{name: "files that are not needed any more", run: runDeleteFiles},
		{name: "what organisations read with their key", run: runReaders},
		{name: "lists of institutions", run: runLists},
		{name: "the catalogue", run: runCatalog},
		{name: "a list that becomes institutions", run: runPublishing},
		{name: "an attempt of the widget", run: func(s *stack) { runWidget(s.outside); s.clock.advance(1) }},
		{name: "an attempt that the patient cancels", run: func(s *stack) {
			runCancel(s.outside)
			runCancelLocated(s.outside)
		}},
		{name: "our pages", run: runPages},
		{name: "what patients fill in", run: runForms},
		{
			name: "an upgrade that has not told the service its own URLs yet", options: options{made: withoutOwnURLs},
			run: runWithoutOwnURLs,
		},
		{name: "what is used in a day", run: runUsage},
		{name: "a connection that is erased", run: runErase},
		{name: "an organisation that is deleted", run: runDeletion},
		{name: "a facility whose record is cached", run: runFacility},
		{name: "a patient whom an identity provider vouches for", run: runVault},
		{name: "a record that cannot be kept", options: options{middleware: refuseFixtures}, run: runUnkept},
		{name: "a client that proves to an identity provider who it is", run: runVouched, costly: true},
		{name: "people of an organisation", run: runPeople},
		{name: "the dashboard", run: runDashboard},
		{name: "a client that proves who it is", run: runConfidential, costly: true},
		{name: "an endpoint of the catalogue that fails and recovers", run: runHealth},
		{name: "files whose time is over", run: runExpiry}, // runs last because runExpiry takes days and renews tokens
	}
}

// large is a patient whose record exceeds one part of a multipart upload.
const (
	large        = "larch-hollow"
	largeEntries = 45
	largeText    = 300_000
)

func largeRecord(tb testing.TB) string {
	tb.Helper()
	type object = map[string]any
	entries := make([]object, 0, 1+largeEntries)
	entries = append(entries, object{"resource": object{"resourceType": "Patient", "id": large}})
	for i := range largeEntries {
		entries = append(entries, object{"resource": object{
			"resourceType": "Observation", "id": fmt.Sprintf("%s-%d", large, i), "status": "final",
			"code":    object{"text": "note"},
			"subject": object{"reference": "Patient/" + large}, "note": []object{{"text": strings.Repeat("x", largeText)}},
		}})
	}
	body, err := json.Marshal(object{"resourceType": "Bundle", "type": "collection", "entry": entries})
	expect.NoError(tb, err)
	folder := tb.TempDir()
	expect.NoError(tb, os.WriteFile(filepath.Join(folder, "large.json"), body, 0o600))
	return folder
}

// runMainJob connects a patient, exports and downloads the patient's record, and calls every read endpoint.
func runMainJob(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	taskID := s.org.startExport(connectionID)
	s.clock.advance(1)
	s.org.checkDownload(crashPersona)
	for path, status := range map[string]int{
		"/bridge/org?public_id=" + s.seeded.Organisations[0].PublicID:          http.StatusOK,
		"/bridge/org_connection/" + connectionID:                               http.StatusOK,
		"/bridge/fhir/ehi-export/" + taskID + "?include=result":                http.StatusOK,
		"/bridge/fhir/ehi-export/" + taskID + "/download/" + taskID + ".jsonl": http.StatusFound,
		"/bridge/fhir/ehi-export/" + taskID + "/download/manifest.json":        http.StatusFound,
		"/.well-known/manifest-jwks.json":                                      http.StatusOK,
	} {
		if got := s.org.request(http.MethodGet, path, nil); got.status != status {
			s.t.Errorf("GET %s answered %d %s", path, got.status, got.Error)
		}
	}
	var list struct{ Events []json.RawMessage }
	if got := s.org.request(http.MethodGet, "/bridge/events", nil); got.status != http.StatusOK ||
		json.Unmarshal(got.Data, &list) != nil || len(list.Events) != 2 {
		s.t.Errorf("the events are %d %s, want two", got.status, got.raw)
	}
	<-time.After(10 * time.Minute) // after ten minutes, a new request resends the finished export's event
	s.org.startExport(connectionID)
	s.clock.advance(1)
	if got := len(s.webhooks.events("patient.ehi_export_success")); got != 2 {
		s.t.Errorf("the success was told %d times, want 2", got)
	}
}

// checkDownload checks that exactly one success event was sent and that its links lead to the complete record.
func (o organisation) checkDownload(personaID string) {
	o.t.Helper()
	found := o.org.download(o.webhooks.exportEvent().DownloadLinks[0].URL)
	if len(found["Patient"]) != 1 || found["Patient"][personaID] != 1 && personaID == large {
		o.t.Errorf("the file holds %v", found["Patient"])
	}
}

func runRenewal(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	<-time.After(2 * time.Hour)
	s.org.startExport(connectionID)
	s.clock.advance(2)
	s.org.checkDownload(crashPersona)
}

func runLostMessages(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.org.startExport(connectionID)
	s.queues.loseMessages()
	s.clock.advance(5)
	s.org.checkDownload(crashPersona)
	if got := len(s.webhooks.events("patient.connection_success")); got != 1 {
		s.t.Errorf("the connection was told %d times, want once", got)
	}
}

func runRetriedWebhook(s *stack) {
	s.t.Helper()
	refusals := s.refuseWebhooks(2)
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.org.startExport(connectionID)
	s.clock.advance(30)
	s.org.checkDownload(crashPersona)
	if left := refusals.Load(); left > 0 {
		s.t.Errorf("the webhook was not tried %d more times", left)
	}
}

// refuseWebhooks makes the inbox respond with 503 to the next n requests. It returns a counter of the remaining 503
// responses, which becomes negative with further requests.
func (s *stack) refuseWebhooks(n int32) (left *atomic.Int32) {
	left = new(atomic.Int32)
	left.Store(n)
	s.intercept = func(r *http.Request) *http.Response {
		if !strings.HasPrefix(r.URL.Path, "/_local/inbox") || left.Add(-1) < 0 {
			return nil
		}
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}
	}
	return left
}

// runSlowExport exports from a slow portal so that the export takes several worker runs, each of which resumes from
// saved state.
func runSlowExport(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
	s.intercept = func(r *http.Request) *http.Response {
		if isFHIR(r) {
			select {
			case <-time.After(3 * time.Minute):
			case <-r.Context().Done():
			}
		}
		return nil
	}
	s.org.startExport(connectionID)
	s.clock.finish(600)
	s.org.checkDownload("alder-maple")
}

// runWaitingExport starts two exports for the same organisation. One export waits for a slot while the other is
// processed in several worker runs.
func runWaitingExport(s *stack) {
	s.t.Helper()
	slow, other := s.patient.connect("alder-maple", "approve").Get("org_connection_id"),
		s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.intercept = func(r *http.Request) *http.Response {
		if isFHIR(r) {
			select {
			case <-time.After(time.Minute):
			case <-r.Context().Done():
			}
		}
		return nil
	}
	s.org.startExport(slow)
	s.org.startExport(other)
	s.clock.finish(600)
	s.clock.advance(1) // lets the sweeper check for waiting exports
	if told := s.webhooks.events("patient.ehi_export_success"); len(told) != 2 {
		s.t.Errorf("%d exports were told, want both", len(told))
	}
	if !strings.Contains(s.logs.String(), `"result":"in_line"`) {
		s.t.Error("neither export had to wait")
	}
}

// runGoneWebhook checks that a receiver that responds with 410 gets no further requests.
func runGoneWebhook(s *stack) {
	s.t.Helper()
	var calls atomic.Int32
	s.intercept = func(r *http.Request) *http.Response {
		if !strings.HasPrefix(r.URL.Path, "/_local/inbox") {
			return nil
		}
		calls.Add(1)
		return &http.Response{StatusCode: http.StatusGone, Header: http.Header{}, Body: http.NoBody, Request: r}
	}
	connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
	s.org.startExport(connectionID)
	s.clock.advance(30)
	if got := calls.Load(); got == 0 || got > 2 { // two deliveries may be in flight when the first response arrives
		s.t.Errorf("the webhook was called %d times, want once or twice", got)
	}
}

// runTogether connects two patients whose events arrive in the same batch of queue messages.
func runTogether(s *stack) {
	s.t.Helper()
	for range 2 {
		s.patient.connect(crashPersona, "approve")
	}
	s.clock.advance(1)
	if got := len(s.webhooks.events("patient.connection_success")); got != 2 {
		s.t.Errorf("%d events were delivered, want 2", got)
	}
}

// runNotices checks that the organisation receives emails about a new credential and a disabled webhook. The email
// about the credential must arrive even if the queue message is lost.
func runNotices(s *stack) {
	s.t.Helper()
	tenant := s.owner()
	s.clock.advance(1)
	seeded := len(s.cloud.SES().Sent())
	if seeded != 5 { // three credentials and two webhooks
		s.t.Errorf("%d mails told of what was seeded, want 5", seeded)
	}
	expect.NoError(s.t, s.operator.Organisations.SetEmails(s.t.Context(), tenant, []string{"ops@alder.example"}))
	_, _, err := s.operator.Credentials.Create(s.t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{"https://app.example/return"}})
	expect.NoError(s.t, err)
	s.queues.loseMessages()
	s.clock.advance(3)
	s.intercept = func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusGone, Header: http.Header{}, Body: http.NoBody, Request: r}
	}
	_, err = s.operator.Deliveries.SendTest(s.t.Context(), tenant)
	expect.NoError(s.t, err)
	s.clock.advance(3)
	subjects := make([]string, 0, 2)
	for _, m := range s.cloud.SES().Sent()[seeded:] {
		if !slices.Equal(m.To, []string{"ops@alder.example"}) || m.From != "notices@example.com" {
			s.t.Errorf("a mail from %s went to %v", m.From, m.To)
		}
		subjects = append(subjects, m.Subject)
	}
	want := []string{
		"Recordbridge: A credential was created: Alder Health App (test mode)",
		"Recordbridge: A webhook was disabled: Alder Health App (test mode)",
	}
	if !slices.Equal(subjects, want) {
		s.t.Errorf("sent %q, want %q", subjects, want)
	}
}

// runExpiry checks that the sweeper deletes expired files.
func runExpiry(s *stack) {
	s.t.Helper()
	s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
	s.clock.advance(2)
	if got := s.state.objects(); len(got) != 2 {
		s.t.Errorf("the bucket holds %v, want one file and its manifest", got)
	}
	<-time.After(9 * 24 * time.Hour)
	s.clock.advance(2)
	if got := s.state.objects(); len(got) != 0 {
		s.t.Errorf("the bucket still holds %v", got)
	}
}

// runLongExport makes the portal request a delay in the middle of a record. The record is so long that the worker must
// hand over to another invocation.
func runLongExport(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect(large, "approve").Get("org_connection_id")
	var asked atomic.Bool
	s.intercept = func(r *http.Request) *http.Response {
		if !isFHIR(r) || !r.URL.Query().Has("page") || asked.Swap(true) {
			return nil
		}
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"120"}},
			Body: http.NoBody, Request: r,
		}
	}
	s.org.startExport(connectionID)
	s.clock.advance(10)
	s.org.checkDownload(large)
	if got := s.state.objects(); len(got) != 2 {
		s.t.Errorf("the bucket holds %v, want one file and its manifest", got)
	}
}

// runBrokenExport makes the portal withdraw all access after more than one part of the file has been uploaded.
func runBrokenExport(s *stack) {
	s.t.Helper()
	connectionID := s.patient.connect(large, "approve").Get("org_connection_id")
	var pages atomic.Int32 // pages of the large type; six exceed one part but not the whole record
	s.intercept = func(r *http.Request) *http.Response {
		if !strings.Contains(r.URL.Path, "/sandbox/") {
			return nil
		}
		if pages.Load() == 6 {
			return &http.Response{
				StatusCode: http.StatusUnauthorized, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(`{"error":"invalid_grant"}`)), Request: r,
			}
		}
		if strings.HasSuffix(r.URL.Path, "/Observation") {
			pages.Add(1)
		}
		return nil
	}
	taskID := s.org.startExport(connectionID)
	s.clock.advance(30)
	if status := s.state.get("test-WorkTable", s.tenant()+"#TASK#"+taskID,
		"META").text("status"); status != string(export.Failed) || pages.Load() != 6 {
		s.t.Errorf("the task is %s after %d pages", status, pages.Load())
	}
	if got := s.state.objects(); len(got) != 0 {
		s.t.Errorf("the bucket holds %v", got)
	}
}

func isFHIR(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/sandbox/") && strings.Contains(r.URL.Path, "/fhir")
}
