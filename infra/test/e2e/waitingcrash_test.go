package e2e_test

import (
	"net/http"
	"testing"
	"time"
)

// TestQueuedExportsSurviveCrashAnywhere requests two exports for an organisation with a single slot, so that each
// worker finds the other's export running. Each of the two exports must end exactly once, and neither may remain
// queued.
func TestQueuedExportsSurviveCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"ExportWorkerFunction", "SweeperFunction"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				const exports = 2
				connections := make([]string, 0, exports)
				for range exports {
					connections = append(connections, s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
				}
				s.intercept = func(r *http.Request) *http.Response {
					if isFHIR(r) {
						<-time.After(time.Second) // virtual time, because the test runs in a synctest bubble
					}
					return nil
				}
				s.pollers = exports
				for _, id := range connections {
					s.org.startExport(id)
				}
				if function == "SweeperFunction" {
					s.queues.loseMessages()
				}
				s.clock.finish(260) // exceeds the export queue's visibility timeout and the timer of waiting exports
				ids := map[string]bool{}
				for _, d := range s.webhooks.events("patient.ehi_export_success") {
					ids[d.Headers["webhook-id"]] = true
				}
				if len(ids) != exports {
					t.Errorf("%d exports were told, want %d", len(ids), exports)
				}
				s.check.nothingPending(t)
			})
		})
	}
}
