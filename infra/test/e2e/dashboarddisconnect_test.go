package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/manage/account"
)

// TestDashboardDisconnectIsPerformedByWorker checks that a worker performs a disconnection requested in the dashboard.
// Once the disconnection is requested, the connection rejects new exports, and its file can't be downloaded. The
// refresh worker deletes the tokens and asks the portal to revoke them.
func TestDashboardDisconnectIsPerformedByWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		l := c.ehr.keepLedger()
		id, link := c.connectAndExport(t)
		if got := c.do(http.MethodPost, "/connections/"+id+"/disconnect", nil); text(got, "status") != "revoked" ||
			text(got, "cause") != "disconnected" {
			t.Errorf("answered %v", got)
		}
		c.checkEnded(t, id, link)
		if c.state.tokens(id)["sealed"] == nil {
			t.Error("the function that browsers reach has changed the tokens")
		}
		c.queues.pump()
		c.check.forgotten(t, id)
		if len(l.revoked) != 1 {
			t.Errorf("the portal was asked to revoke %d tokens, want 1", len(l.revoked))
		}
	})
}

// TestDashboardDisconnectSurvivesCrashAnywhere crashes the dashboard's function and the worker in turn, after each of
// their calls. The test's client retries failed requests. Every step of the disconnection must take effect and be
// recorded exactly once.
func TestDashboardDisconnectSurvivesCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"DashboardConnectionsFunction", "RefreshWorkerFunction"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			sweepCrashes(t, function, func(t *testing.T, s *stack) {
				t.Helper()
				c := newConsole(s)
				l := c.ehr.keepLedger()
				id, link := c.connectAndExport(t)
				c.disconnectWithRetry(t, id)
				c.checkEnded(t, id, link)
				c.clock.advance(20)        // the sweeper resends a lost message after 15 minutes
				c.clock.advanceQuarters(7) // longer than the refresh queue's visibility timeout
				c.check.forgotten(t, id)
				if len(l.revoked) != 1 {
					t.Errorf("the portal was asked to revoke %d tokens, want 1", len(l.revoked))
				}
				if got := c.state.objects(); len(got) != 0 {
					t.Errorf("the bucket still holds %v", got)
				}
				c.signInAgain()
				log := c.at(http.MethodGet, "/dashboard/organisations/"+c.own+"/audit", nil)
				rows, _ := log["rows"].([]any)
				if got := countOf(rows, "connection.disconnected"); got != 1 {
					t.Errorf("recorded %d times, want once: %v", got, rows)
				}
				c.check.nothingWaits(t)
			})
		})
	}
}

func (c *console) connectAndExport(t *testing.T) (id, link string) {
	t.Helper()
	id = c.patient.connect(crashPersona, "approve").Get("org_connection_id")
	c.org.startExport(id)
	c.clock.advance(2)
	link = c.webhooks.exportEvent().DownloadLinks[0].URL
	if got := c.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true}); got.status != http.StatusOK {
		t.Fatalf("a new export answered %d", got.status)
	}
	return id, link
}

// disconnectWithRetry disconnects as a dashboard user would, retrying a failed request.
func (c *console) disconnectWithRetry(t *testing.T, id string) {
	t.Helper()
	for range 60 {
		got := c.request(c.owner, proofCase{
			"", http.MethodPost,
			"/dashboard/organisations/" + c.own + "/test/connections/" + id + "/disconnect", nil,
		})
		if got.status == http.StatusOK && strings.Contains(string(got.Data), `"status":"revoked"`) {
			return
		}
		checkFailure(t, got)
		<-time.After(5 * time.Second)
	}
	t.Fatal("the disconnection was never carried out")
}

// checkEnded checks the immediate effects of a disconnection.
func (c *console) checkEnded(t *testing.T, id, link string) {
	t.Helper()
	c.org.checkStatus(id, "revoked")
	if got := c.org.request(http.MethodPost, "/bridge/fhir/ehi-export",
		map[string]any{"org_connection_id": id, "refresh": true}); got.status != http.StatusConflict {
		t.Errorf("a new export answered %d %s", got.status, got.raw)
	}
	if got, _ := c.patient.browser().open(link, "", ""); got == nil || got.status != http.StatusGone {
		t.Error("the file can still be downloaded")
	}
}

func countOf(rows []any, action string) int {
	count := 0
	for _, row := range rows {
		of, _ := row.(map[string]any)
		actor, _ := of["actor"].(string)
		if of["action"] == action && strings.HasPrefix(actor, account.Actor("")) {
			count++
		}
	}
	return count
}
