package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
)

// firstTick is an upper bound on the number of calls in the scheduler's first run with work: a query for each shard, a
// claim and a message. The refresh worker makes fewer calls than that.
const firstTick = store.DueShards + 4

// refreshers lists the functions that process due connections. The scheduler handles all due connections alike, so only
// a soak test crashes it in every scenario.
func refreshers() []string {
	if !isSoak() {
		return []string{"RefreshWorkerFunction"}
	}
	return []string{"RefreshWorkerFunction", "RefreshSchedulerFunction"}
}

// TestKeepAliveSurvivesCrashAnywhere checks that after a crash, the tokens are refreshed, usable, and due again. If the
// worker crashed before storing the new refresh token, the old token is retried once and the connection ends with
// rotation_lost.
func TestKeepAliveSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for function, mayLose := range map[string]bool{"RefreshWorkerFunction": true, "RefreshSchedulerFunction": false} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			lost := 0
			sweepFirstCrashes(t, function, firstTick, func(t *testing.T, s *stack) {
				t.Helper()
				l := s.ehr.keepLedger()
				id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
				<-time.After(11 * 24 * time.Hour)
				s.clock.advance(2)
				inDoubt := l.refreshes() == 1 && s.state.tokens(id).number("version") == 1
				s.clock.advanceQuarters(3)
				if inDoubt {
					lost++
					s.check.revoked(id, "rotation_lost")
					l.checkUses(t, 2)
					return
				}
				s.check.refreshed(t, id)
				<-time.After(2 * time.Hour) // forces the export to refresh with an outdated refresh token, which fails
				s.org.startExport(id)
				s.clock.advance(2)
				s.org.checkDownload(crashPersona)
				s.org.checkStatus(id, "authorized")
				l.checkUses(t, 1)
			})
			// a short run covers only a sample of the calls
			if isThere := lost > 0; isThere && !mayLose || !isThere && mayLose && !testing.Short() {
				t.Errorf("%d crashes lost the rotation", lost)
			}
		})
	}
}

// advanceQuarters advances virtual time by the given number of quarter hours. A quarter of an hour exceeds the refresh
// queue's visibility timeout.
func (s clock) advanceQuarters(quarters int) {
	s.t.Helper()
	for range quarters {
		s.clock.pass(15 * time.Minute)
	}
}

func (s checks) refreshed(t *testing.T, id string) {
	t.Helper()
	s.org.checkStatus(id, "authorized")
	found := s.state.connection(id)
	next, err := time.Parse(time.RFC3339Nano, found.text("refresh_at"))
	if err != nil || time.Until(next) < 3*24*time.Hour || time.Until(next) > 11*24*time.Hour {
		t.Errorf("the next refresh is at %v: %v", next, err)
	}
	if found.text("due_at") != found.text("refresh_at") {
		t.Errorf("it is due at %s, and to be refreshed at %s", found.text("due_at"), found.text("refresh_at"))
	}
	if held := s.state.tokens(id); held["sealed"] == nil || held.number("version") < 2 || held.text("lease_owner") != "" {
		t.Errorf("the tokens have version %d, leased by %q", held.number("version"), held.text("lease_owner"))
	}
}

// TestRevocationSurvivesCrashAnywhere checks that the connection is revoked, its revocation is reported exactly once,
// and its tokens are deleted. If a crash loses the portal's rejection, the next rejection is treated as a lost
// rotation.
func TestRevocationSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range refreshers() {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepFirstCrashes(t, function, firstTick, func(t *testing.T, s *stack) {
				t.Helper()
				l := s.ehr.keepLedger()
				id := s.ehr.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
				<-time.After(12 * 24 * time.Hour)
				s.clock.advance(2)
				cause := "invalid_grant"
				if s.state.tokens(id).text("refresh_started_at") != "" {
					cause = "rotation_lost"
				}
				s.clock.advanceQuarters(3)
				s.check.revoked(id, cause)
				l.checkUses(t, 2)
				if due := s.state.connection(id).text("due_at"); due != "" {
					t.Errorf("it is still due at %s", due)
				}
			})
		})
	}
}

// TestAccessTokenExpirySurvivesCrashAnywhere crashes the worker that detects the access token's expiry. If the
// connection's row never becomes due, the export detects the expiry. The connection must be revoked exactly once,
// without a request to the portal.
func TestAccessTokenExpirySurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range append(refreshers(), "ExportWorkerFunction") {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepFirstCrashes(t, function, firstTick, func(t *testing.T, s *stack) {
				t.Helper()
				l := s.ehr.keepLedger()
				id, ends := s.ehr.connectUntil(briefly, 5*time.Minute)
				if function == "ExportWorkerFunction" {
					s.forgetEnd(id)
				}
				<-time.After(time.Until(ends))
				if function == "ExportWorkerFunction" {
					s.org.startExport(id)
				}
				s.clock.advance(2)
				s.clock.advanceQuarters(3)
				s.check.revoked(id, "access_expired")
				if due := s.state.connection(id).text("due_at"); due != "" || l.refreshes() != 0 {
					t.Errorf("it is still due at %q, after %d refreshes", due, l.refreshes())
				}
			})
		})
	}
}

func TestUpstreamRevocationSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range refreshers() {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepFirstCrashes(t, function, firstTick, func(t *testing.T, s *stack) {
				t.Helper()
				l := s.ehr.keepLedger()
				id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
				if got := s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil); got.status != http.StatusOK {
					t.Fatalf("DELETE answered %d", got.status)
				}
				s.clock.advance(2)
				s.clock.advanceQuarters(2)
				s.check.forgotten(t, id)
				if len(l.revoked) != 1 {
					t.Errorf("the portal was asked to revoke %d tokens, want 1", len(l.revoked))
				}
				if told := s.webhooks.events("patient.authorization_revoked"); len(told) != 0 {
					t.Errorf("the organisation was told what it did itself: %v", told)
				}
			})
		})
	}
}

func (s checks) forgotten(t *testing.T, id string) {
	t.Helper()
	s.org.checkStatus(id, "revoked")
	found := s.state.connection(id)
	if found.text("ended") != "disconnected" || found.text("upstream_until") != "" || found.text("due_at") != "" {
		t.Errorf("the connection ended as %q, upstream until %q, due at %q", found.text("ended"),
			found.text("upstream_until"), found.text("due_at"))
	}
	if s.state.tokens(id)["sealed"] != nil {
		t.Error("the tokens are still in reach")
	}
	if s.state.get("test-TokensTable", s.tenant()+"#UPSTREAM#"+id, "META") != nil {
		t.Error("what the portal was to revoke is still there")
	}
}

// TestDisconnectionSurvivesCrashAnywhere disconnects a patient during an export, while an earlier export's file still
// exists. After the organisation retries, no access and no pending work may remain.
func TestDisconnectionSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	const function = "DeleteConnectionFunction"
	sweepCrashes(t, function, func(t *testing.T, s *stack) {
		t.Helper()
		l := s.ehr.keepLedger()
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		s.org.startExport(id)
		s.clock.advance(2)
		link := s.webhooks.exportEvent().DownloadLinks[0].URL
		if got := s.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
			map[string]any{"org_connection_id": id, "refresh": true}); got.status != http.StatusOK {
			t.Fatalf("a new export answered %d", got.status)
		}
		s.disconnectUntilDone(t, id)
		if answer, _ := s.patient.browser().open(link, "", ""); answer == nil || answer.status != http.StatusGone {
			t.Error("the file can still be downloaded")
		}
		s.clock.advance(3)
		s.clock.advanceQuarters(2)
		s.check.forgotten(t, id)
		if got := s.state.objects(); len(got) != 0 {
			t.Errorf("the bucket still holds %v", got)
		}
		if failed := s.webhooks.events("patient.ehi_export_failed"); len(failed) != 1 {
			t.Errorf("%d exports failed, want the pending one", len(failed))
		}
		if len(l.revoked) != 1 {
			t.Errorf("the portal was asked to revoke %d tokens, want 1", len(l.revoked))
		}
		s.check.nothingWaits(t)
	})
}

// disconnectUntilDone disconnects as a customer's backend would, retrying after 5xx errors.
func (s *stack) disconnectUntilDone(t *testing.T, id string) {
	t.Helper()
	for range 60 {
		got := s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil)
		if got.status == http.StatusOK && strings.Contains(string(got.Data), `"status":"revoked"`) {
			return
		}
		checkFailure(t, got)
		<-time.After(5 * time.Second)
	}
	t.Fatal("DELETE was never carried out")
}

// eventIDs returns the IDs of the events of a type that the first organisation received about a subject.
func (s *stack) eventIDs(eventType webhook.Type, mentions string) map[string]bool {
	s.t.Helper()
	found := map[string]bool{}
	for _, d := range s.webhooks.events(string(eventType)) {
		if strings.Contains(d.Body, mentions) {
			found[d.Headers["webhook-id"]] = true
		}
	}
	return found
}

// toldPerGeneration checks that each authorisation of a connection was reported under one unique event ID.
func (s checks) toldPerGeneration(t *testing.T, id string) {
	t.Helper()
	told, generation := s.eventIDs(webhook.ConnectionSucceeded, id), s.state.connection(id).number("generation")
	if len(told) != generation {
		t.Errorf("%d authorisations were told under %d ids", generation, len(told))
	}
	for n := 1; n <= generation; n++ {
		if !told[webhook.EventID(s.owner(), webhook.ConnectionSucceeded, id, int64(n))] {
			t.Errorf("authorisation %d was not told", n)
		}
	}
}
