package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// useLogs finds a failed request, a connection's sign-in and a refused sign-in in the request log.
func (c *console) useLogs() {
	c.t.Helper()
	id := c.patient.connect(crashPersona, "approve").Get("org_connection_id")
	c.patient.connect("alder-maple", "deny")
	missing := c.org.request(http.MethodGet, "/bridge/org_connection/"+c.seeded.Organisations[0].ID, nil)
	found := entryWith(c.do(http.MethodGet, "/requests?request_id="+missing.Request, nil), "requests", "error",
		"svc_not_found")
	if found["status"] != 404.0 || text(found, "route") != "/bridge/org_connection/{orgConnectionId}" ||
		text(found, "public_id") != c.seeded.Organisations[0].PublicID {
		c.t.Errorf("the request %s is %v", missing.Request, found)
	}
	for path, count := range map[string]int{
		"/requests?connection_id=" + c.seeded.Organisations[0].ID: 1,
		"/requests?external_id=patient-7":                         2, // each patient's connect URL
		"/requests?external_id=patient-8":                         0,
		"/requests?status=error":                                  1,
		"/sign-ins?outcome=connected&connection_id=" + id:         1,
		"/sign-ins?external_id=patient-7":                         2,
		"/sign-ins?cause=declined":                                1,
	} {
		name := map[bool]string{true: "requests", false: "sign_ins"}[strings.HasPrefix(path, "/requests")]
		if rows, _ := c.do(http.MethodGet, path, nil)[name].([]any); len(rows) != count {
			c.t.Errorf("%s finds %v, want %d", path, rows, count)
		}
	}
	declined := entryWith(c.do(http.MethodGet, "/sign-ins?outcome=failed", nil), "sign_ins", "cause", "declined")
	same := entryWith(c.do(http.MethodGet, "/sign-ins?request_id="+text(declined, "request_id"), nil), "sign_ins",
		"attempt_id", text(declined, "attempt_id"))
	if same == nil || text(declined, "endpoint_id") == "" || text(declined, "kind") != "connect" {
		c.t.Errorf("the refusal is %v, by its request ID %v", declined, same)
	}
}

func TestLogsShowRequestsAndSignIns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		c.useLogs()
		c.vault.identify(c.vault.beginVerification("patient-9"), twoHospitals, "decline")
		if got := entryWith(c.do(http.MethodGet, "/sign-ins?external_id=patient-9", nil), "sign_ins", "kind",
			"tefca"); text(got, "cause") != "declined" {
			t.Errorf("the declined verification is %v", got)
		}
		for _, row := range c.state.browse("test-RequestLogTable") {
			for name, value := range row {
				if strings.Contains(string(value), "patient-7") {
					t.Errorf("%s is %s", name, value)
				}
			}
		}
	})
}

// TestLogPagesContainEachRowOnce also checks that each facility of a TEFCA attempt is a row.
func TestLogPagesContainEachRowOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		facilities := c.vault.connect(twoHospitals, "patient-7")
		log, of := store.RequestLog{DB: c.stack.rows, Table: "test-RequestLogTable"}, org.Tenant{Mode: org.Test, OrgID: c.own}
		for range 120 {
			<-time.After(time.Second)
			id := ids.Random()
			expect.NoError(t, log.PutRequest(t.Context(), requestlog.Request{
				Tenant: of, ID: id, At: time.Now(), Method: "GET", Route: "/bridge/org", Status: 200, CredentialID: id,
			}))
			expect.NoError(t, log.PutSignIn(t.Context(), requestlog.SignIn{
				Tenant: of, AttemptID: id, At: time.Now(), Kind: requestlog.Connect, Outcome: requestlog.Connected,
				RequestID: id,
			}))
		}
		if got := c.pages("/sign-ins", "sign_ins", "attempt_id"); len(got) != 120+len(facilities) {
			t.Errorf("%d sign-ins, want %d", len(got), 120+len(facilities))
		}
		requests := c.pages("/requests", "requests", "request_id")
		slices.Sort(requests)
		if len(requests) < 120 || len(slices.Compact(requests)) != len(requests) {
			t.Errorf("requests %v", requests)
		}
		for id := range facilities {
			if entryWith(c.do(http.MethodGet, "/sign-ins?connection_id="+facilities[id], nil), "sign_ins",
				"tefca_directory_id", id) == nil {
				t.Errorf("no sign-in of %s", id)
			}
		}
	})
}

// TestRequestLogCanBeTurnedOff checks that the stack's parameter turns off all writes to the request log.
func TestRequestLogCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{logOff: true})
		s.patient.connect(crashPersona, "approve")
		s.vault.connect(twoHospitals, "patient-7")
		if rows := s.state.browse("test-RequestLogTable"); len(rows) != 0 {
			t.Errorf("logged %s", rows)
		}
	})
}
