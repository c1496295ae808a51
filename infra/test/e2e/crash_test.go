package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

// crashPersona has a small record, because tests that inject a crash at every call repeat the export many times.
const crashPersona = "juniper-vale"

// TestConnectSurvivesCrashAnywhere checks that a crash leaves either a complete connection or none. If a crash
// interrupts a request, the response must ask for a retry, and the retry must succeed.
func TestConnectSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"ConnectFunction", "CallbackFunction"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				answer, last := s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
				s.disarm(function)
				if answer != nil {
					checkTryAgain(t, answer)
				} else if last.Query().Get("connection_status") != "authorized" && last.Query().Get("error") == "" {
					t.Errorf("the application got %v", last.Query())
				}
				s.check.connectionsAreWhole(t)
				result := s.patient.connect(crashPersona, "approve")
				if result.Get("connection_status") != "authorized" {
					t.Fatalf("trying again gave %v", result)
				}
				s.org.startExport(result.Get("org_connection_id"))
				s.clock.finish(10)
				s.webhooks.exportEvent()
				s.check.nothingPending(t)
			})
		})
	}
}

// connectionsAreWhole checks that every connection has tokens and that all tokens belong to a connection.
func (s checks) connectionsAreWhole(t *testing.T) {
	t.Helper()
	connections := s.state.list("test-ConnectionTable", s.tenant()+"#CONN")
	tokens := 0
	for _, key := range connections {
		if s.state.get("test-TokensTable", key, "TOKENS") != nil {
			tokens++
		}
	}
	if tokens != len(connections) {
		t.Errorf("%d connections, %d of them with tokens", len(connections), tokens)
	}
}

// TestExportSurvivesCrashAnywhere checks that an accepted export ends with one file, one event ID and no pending work,
// regardless of which function crashes and after which call.
func TestExportSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"CreateExportFunction", "ExportWorkerFunction", "WebhookWorkerFunction",
		"SweeperFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				connectionID := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
				s.requestUntilAccepted(t, connectionID)
				if function == "SweeperFunction" {
					s.queues.loseMessages() // the sweeper has work to do only if messages are lost
				}
				s.clock.finish(130) // longer than the export queue's visibility timeout
				s.check.oneResult(t)
				s.check.nothingPending(t)
			})
		})
	}
}

func (s checks) oneResult(t *testing.T) {
	t.Helper()
	sent := s.webhooks.events("patient.ehi_export_success")
	ids := map[string]bool{}
	for _, d := range sent {
		ids[d.Headers["webhook-id"]] = true
	}
	if len(ids) != 1 {
		t.Fatalf("the success was told under %d event ids in %d webhooks", len(ids), len(sent))
	}
	if failed := s.webhooks.events("patient.ehi_export_failed"); len(failed) != 0 {
		t.Errorf("%d failures were told, too", len(failed))
	}
	var body struct {
		Data exportData `json:"data"`
	}
	expect.NoError(t, json.Unmarshal([]byte(sent[0].Body), &body))
	if got := s.org.download(body.Data.DownloadLinks[0].URL); len(got["Patient"]) != 1 {
		t.Errorf("the file holds %v", got)
	}
	if tasks := s.state.list("test-WorkTable", s.tenant()+"#TASK"); len(tasks) != 1 {
		t.Errorf("there are %d tasks", len(tasks))
	}
}

// nothingPending checks that every queue is empty and that nothing is due except the scheduled expiry of the export's
// file.
func (s checks) nothingPending(t *testing.T) {
	t.Helper()
	s.check.nothingWaits(t)
	for _, key := range s.state.list("test-WorkTable", s.tenant()+"#TASK") {
		if status := s.state.get("test-WorkTable", key, "META").text("status"); status != string(export.Success) {
			t.Errorf("%s is %s", key, status)
		}
	}
}

// TestReadOnlyEndpointsSurviveCrashAnywhere checks that a read-only endpoint that crashes returns the standard error
// envelope and serves the next request normally.
func TestReadOnlyEndpointsSurviveCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{
		"GetExportFunction", "DownloadExportFunction", "GetConnectionFunction",
		"GetOrgFunction",
	} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				for n, reached := 1, true; reached && !t.Failed(); n++ {
					f.functions[function].ended = 0
					f.crash(function, n)
					got := f.read(function)
					reached = f.crashed(function)
					f.disarm(function)
					if reached && (got.status != http.StatusBadGateway || got.Error != "svc_server_error") {
						t.Errorf("a crash after call %d was answered %d %s", n, got.status, got.Error)
					}
					if got := f.read(function); got.status >= http.StatusBadRequest {
						t.Errorf("the request after a crash after call %d was answered %d %s", n, got.status, got.Error)
					}
				}
			})
		})
	}
}

func (f fixture) read(function string) answer {
	f.t.Helper()
	own := f.seeded.Organisations[0]
	for _, declared := range f.template.Functions {
		if declared.LogicalID != function {
			continue
		}
		route := template.Route{Method: http.MethodGet, Path: declared.Routes[0].Path}
		if function == "GetOrgFunction" {
			return f.call(route.Method, route.Path+"?public_id="+own.PublicID, "", "", nil)
		}
		return f.finished().as(route, own.PublicID, own.PrivateKey)
	}
	f.t.Fatalf("there is no %s", function)
	return answer{}
}
