package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
)

// traced adds a new trace to an invocation's context under aws-lambda-go's key, as Lambda does.
func traced(ctx context.Context) context.Context {
	id := strings.ReplaceAll(ids.Random(), "-", "")
	//nolint:revive,staticcheck // the library's key
	return context.WithValue(ctx, "x-amzn-trace-id", "Root=1-"+id[:8]+"-"+id[8:32])
}

// TestTraceIDLinksExportAcrossLogs checks that the trace ID in a request's log line also appears in every log line of
// the resulting export.
func TestTraceIDLinksExportAcrossLogs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{log: logx.New})
		connectionID := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
		s.clock.advance(1)
		taskID := s.org.startExport(connectionID)
		s.clock.advance(5)
		s.webhooks.exportEvent()

		byTrace, requests := map[string][]string{}, []string{}
		for _, text := range s.lines() {
			var line struct {
				Msg     string `json:"msg"`
				Method  string `json:"method"`
				Route   string `json:"route"`
				TaskID  string `json:"task_id"`
				TraceID string `json:"trace_id"`
			}
			expect.NoError(t, json.Unmarshal([]byte(text), &line))
			if line.TraceID == "" {
				t.Errorf("a line without a trace: %s", text)
			}
			byTrace[line.TraceID] = append(byTrace[line.TraceID], line.Msg)
			if line.Method == http.MethodPost && line.Route == "/bridge/fhir/ehi-export" {
				requests = append(requests, line.TraceID)
			}
			if line.TaskID == taskID && (len(requests) != 1 || line.TraceID != requests[0]) {
				t.Errorf("of the request's task, and of another trace: %s", text)
			}
		}
		if len(requests) != 1 {
			t.Fatalf("the export was requested %d times", len(requests))
		}
		found := byTrace[requests[0]]
		for _, want := range []string{"http.request", "exportworker.message", "webhookworker.message", "metric"} {
			if !slices.Contains(found, want) {
				t.Errorf("the request's trace has the lines %v, no %s", found, want)
			}
		}
	})
}

// TestJourneysEmitMetrics covers a successful export, a failed export, a webhook receiver that responds with 410, and a
// caller over the rate limit.
func TestJourneysEmitMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{log: logx.New})
		arrives := s.patient.connect("alder-maple", "approve").Get("org_connection_id")
		s.org.startExport(arrives)
		s.clock.advance(5)
		got := measured.In(t, []byte(strings.Join(s.lines(), "")))
		for name, want := range map[string]int{
			"Exports started": 1, "Exports success": 1, "ExportSeconds success": 1,
			// one attempt for the connection event and one for the export event
			"WebhookAttempts delivered": 2, "WebhookSeconds": 2, "DeliverySeconds": 2,
		} {
			if got[name] != want {
				t.Errorf("%s: %d, want %d", name, got[name], want)
			}
		}

		s.org.startExport(s.ehr.connectTo(quirk{with: "deny:Patient"}).Get("org_connection_id"))
		s.clock.advance(3)
		s.ehr.answering(http.StatusGone, "text/plain", "gone", "/_local/inbox")
		s.patient.connect("willow-ash", "approve")
		s.clock.advance(1)
		s.org.request(http.MethodDelete, "/bridge/org_connection/"+arrives, nil)
		for range 200 {
			s.call(http.MethodGet, "/bridge/org?public_id="+s.seeded.Organisations[0].PublicID, "", "", nil)
		}
		got = measured.In(t, []byte(strings.Join(s.lines(), "")))
		for _, name := range []string{
			"Exports failed", "ExportSeconds failed", "ExportFailures resource_patient_failure", "WebhookAttempts http_status",
			"WebhooksStopped gone",
			"Revocations disconnected", "Limited browser",
		} {
			if got[name] == 0 {
				t.Errorf("nothing was told of %s: %v", name, got)
			}
		}
	})
}
