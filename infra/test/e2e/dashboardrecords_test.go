package e2e_test

import (
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/org"
)

func entryWith(list map[string]any, name, key, id string) map[string]any {
	all, _ := list[name].([]any)
	for _, one := range all {
		if entry, _ := one.(map[string]any); text(entry, key) == id {
			return entry
		}
	}
	return nil
}

// TestDashboardShowsConnectionHistory checks that the dashboard shows when an active connection's consent ends, and
// when consent was renewed or withdrawn. For an ended connection, the dashboard must show the reason and a remedy.
func TestDashboardShowsConnectionHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		well := c.ehr.connectTo(quirk{with: "tell-expiry:authorization_expires_in,refresh:2400h"}).Get("org_connection_id")
		ended := c.ehr.connectTo(quirk{with: "refresh-fails:invalid_grant"}).Get("org_connection_id")
		c.patient.connect(crashPersona, "deny")
		if got := entryWith(c.do(http.MethodGet, "/connections", nil), "connections", "org_connection_id", well); text(got,
			"consent_expires_at") == "" || text(got, "cause") != "" {
			t.Errorf("in the list it is %v", got)
		}
		if got := c.do(http.MethodGet, "/connections?status=rejected",
			nil); text(entryWith(got, "connections", "status", "rejected"), "cause") != "declined" {
			t.Errorf("who declined is %v", got)
		}
		<-time.After(12 * 24 * time.Hour)
		failed := c.org.startExport(ended)
		c.clock.advance(10)
		c.signInAgain()
		shown := c.do(http.MethodGet, "/connections/"+well, nil)
		if text(shown, "renewal", "renewed_at") == "" || text(shown, "renewal", "next_at") == "" ||
			text(shown, "consent_expires_at") == "" {
			t.Errorf("it is %v", shown)
		}
		left := c.do(http.MethodPost, "/connections/"+well+"/disconnect", nil)
		if text(left, "cause") != "disconnected" || text(left, "consent_expires_at") == "" ||
			text(left, "renewal", "next_at") != "" || text(left, "ended_at") == "" {
			t.Errorf("given up it is %v", left)
		}
		shown = c.do(http.MethodGet, "/connections/"+ended, nil)
		if text(shown, "cause") != "consent_ended" || text(shown, "ended_at") == "" ||
			text(shown, "suggested_action") != "Ask the patient to reconnect." {
			t.Errorf("what has ended is %v", shown)
		}
		if got := entryWith(shown, "exports", "task_id", failed); text(got, "failure_reason") != "token_refresh_failure" {
			t.Errorf("its exports are %v", shown["exports"])
		}
		if got := c.do(http.MethodGet, "/exports/"+failed, nil); text(got, "failure_reason") != "token_refresh_failure" ||
			text(got, "suggested_action") == "" {
			t.Errorf("the export is %v", got)
		}
		c.eraseAndProve(t, ended)
	})
}

// eraseAndProve erases a connection and checks the proof of erasure. Repeating the request must return the same proof.
func (c *console) eraseAndProve(t *testing.T, id string) {
	t.Helper()
	begun := c.do(http.MethodPost, "/connections/"+id+"/erase", nil)
	c.clock.advance(40)
	c.signInAgain() // repeating the request requires a new proof of identity
	proof := c.do(http.MethodGet, "/connections/"+id+"/erasure", nil)
	counts, _ := proof["counts"].(map[string]any)
	if text(proof, "stage") != "done" || text(proof, "finished_at") == "" ||
		text(proof, "portal") != "nothing_to_revoke" || counts["connections"] != 1.0 || counts["exports"] != 1.0 {
		t.Errorf("the proof is %v", proof)
	}
	if again := c.do(http.MethodPost, "/connections/"+id+"/erase", nil); !cmp.Equal(proof, again) ||
		text(again, "erasure_id") != text(begun, "erasure_id") {
		t.Errorf("asked again: %v, want %v", again, proof)
	}
	c.want(http.MethodGet, "/connections/"+id, nil, http.StatusNotFound, "svc_not_found")
}

// TestDashboardShowsMissingData checks that the dashboard shows missing data by resource type, with the amount and the
// reason.
func TestDashboardShowsMissingData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		id := c.ehr.connectTo(
			quirk{with: "deny:Condition,deny-500:Encounter,require-category,foreign-ref,other-patient"}).Get("org_connection_id")
		task := c.org.startExport(id)
		c.clock.advance(5)
		listed := entryWith(c.do(http.MethodGet, "/exports?status=success", nil), "exports", "task_id", task)
		shown := c.do(http.MethodGet, "/exports/"+task, nil)
		if listed["complete"] != false || !cmp.Equal(listed["missing"], shown["missing"]) ||
			text(shown, "missing", "Condition") != "refused" {
			t.Errorf("missing in the list: %v, of the export: %v", listed["missing"], shown["missing"])
		}
		got := entryWith(shown, "outcome", "type", "Condition")
		if got["http_status"] != 403.0 || text(got, "result") != "denied" {
			t.Errorf("what was refused is %v", got)
		}
		if got := entryWith(shown, "outcome", "type", "Observation"); text(got, "only_by") != "category" {
			t.Errorf("what was asked for by category is %v", got)
		}
		if got := entryWith(shown, "outcome", "type", "Practitioner"); got["missing"] == nil ||
			text(got, "reason") != "other_server" {
			t.Errorf("what is elsewhere is %v", got)
		}
		if text(shown, "suggested_action") == "" {
			t.Error("nobody is told what to do")
		}
	})
}

// pages reads all pages of a list and returns the IDs in order.
func (c *console) pages(path, name, key string) []string {
	c.t.Helper()
	var all []string
	for at := path; ; {
		page := c.do(http.MethodGet, at, nil)
		entries, _ := page[name].([]any)
		for _, one := range entries {
			entry, _ := one.(map[string]any)
			all = append(all, text(entry, key))
		}
		next := text(page, "next")
		if next == "" {
			return all
		}
		at = path + "?cursor=" + url.QueryEscape(next)
	}
}

// TestDashboardListsPaginateWithoutGaps checks that each item of a long list appears on exactly one page.
func TestDashboardListsPaginateWithoutGaps(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		const crowd = 52 // more than one page of 50 items
		connections, exports := map[string]bool{}, map[string]bool{}
		for range crowd {
			id := c.patient.connect(crashPersona, "approve").Get("org_connection_id")
			connections[id], exports[c.org.startExport(id)] = true, true
		}
		c.queues.pump()
		for path, want := range map[string]map[string]bool{"/connections": connections, "/exports": exports} {
			name, key := path[1:], map[string]string{"/connections": "org_connection_id", "/exports": "task_id"}[path]
			listed := c.pages(path, name, key)
			for _, id := range listed {
				if !want[id] {
					t.Errorf("%s has %s twice, or should not", path, id)
				}
				delete(want, id)
			}
			if len(listed) != crowd || len(want) != 0 {
				t.Errorf("%s lists %d of %d", path, len(listed), crowd)
			}
		}
		if told := c.pages("/deliveries", "deliveries", "delivery_id"); len(told) < crowd {
			t.Errorf("%d deliveries are listed, want one for each patient at least", len(told))
		}
		for range crowd {
			_, err := c.operator.Deliveries.SendTest(t.Context(), org.Tenant{Mode: org.Test, OrgID: c.own})
			expect.NoError(t, err)
		}
		c.checkAuditPages(t)
	})
}

// checkAuditPages checks that the audit log's pages form a single chain without gaps.
func (c *console) checkAuditPages(t *testing.T) {
	t.Helper()
	path := "/dashboard/organisations/" + c.own + "/audit"
	first := c.at(http.MethodGet, path, nil)
	next, _ := first["next"].(float64)
	rows, _ := first["rows"].([]any)
	if len(rows) != 50 || next < 2 {
		t.Fatalf("the first page has %d rows, the next is before %v", len(rows), next)
	}
	rest, _ := c.at(http.MethodGet, path+"?before="+number(next), nil)["rows"].([]any)
	for i, row := range append(rows, rest...) {
		newest, _ := rows[0].(map[string]any)["seq"].(float64)
		if seq := row.(map[string]any)["seq"]; seq != newest-float64(i) {
			t.Errorf("row %d is number %v, the newest %v", i, seq, newest)
		}
	}
}
