package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// TestConnectionCanBeFoundByExternalID checks that a search for the organisation's own ID for a patient finds the
// patient's connections. The search must also find rejected connections, and must match only the exact ID.
func TestConnectionCanBeFoundByExternalID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(newStack(t, options{}))
		well, declined := c.patient.connect(crashPersona, "approve").Get("org_connection_id"), ""
		c.patient.connect("alder-maple", "deny")
		found, _ := c.do(http.MethodGet, "/connections?external_id=patient-7", nil)["connections"].([]any)
		for _, one := range found {
			if entry, _ := one.(map[string]any); text(entry, "org_connection_id") != well {
				declined = text(entry, "status")
			}
		}
		if len(found) != 2 || declined != "rejected" {
			t.Errorf("found %v", found)
		}
		c.patient.reconnect(well, crashPersona)
		if got := entryWith(c.do(http.MethodGet, "/connections?external_id=patient-7&status=authorized", nil), "connections",
			"org_connection_id", well); got == nil {
			t.Error("it is not found after a reconnect")
		}
		for _, other := range []string{"patient", "patient-8"} {
			if got := c.do(http.MethodGet, "/connections?external_id="+other, nil); len(got["connections"].([]any)) != 0 {
				t.Errorf("by %s: %v", other, got)
			}
		}
		c.checkDeliveriesNamePatient(well)
		c.eraseAndLoseSight(well)
		if strings.Contains(c.logs.String(), "patient-7") {
			t.Error("the log has the external id")
		}
	})
}

// checkDeliveriesNamePatient checks that the deliveries about a connection show its external ID.
func (c *console) checkDeliveriesNamePatient(id string) {
	c.t.Helper()
	c.org.startExport(id)
	c.queues.pump()
	found, _ := c.do(http.MethodGet, "/deliveries?subject="+id, nil)["deliveries"].([]any)
	if len(found) == 0 {
		c.t.Fatal("no delivery is about the connection")
	}
	listed, _ := found[0].(map[string]any)
	path := "/deliveries/" + text(listed, "delivery_id")
	for name, shown := range map[string]map[string]any{
		"listed": listed, "shown": c.do(http.MethodGet, path, nil), "replayed": c.do(http.MethodPost, path+"/replay", nil),
	} {
		if text(shown, "external_id") != "patient-7" || text(shown, "org_connection_id") != id {
			c.t.Errorf("%s: %v", name, shown)
		}
	}
}

// eraseAndLoseSight erases a connection and checks that neither the search nor the connection table contains it.
func (c *console) eraseAndLoseSight(id string) {
	c.t.Helper()
	c.do(http.MethodPost, "/connections/"+id+"/erase", nil)
	c.clock.advance(40)
	c.signInAgain()
	if got := entryWith(c.do(http.MethodGet, "/connections?external_id=patient-7", nil), "connections",
		"org_connection_id",
		id); got != nil {
		c.t.Errorf("found %v after it was erased", got)
	}
	for _, row := range c.state.list("test-ConnectionTable", c.tenant()+"#CONN") {
		if strings.Contains(row, id) {
			c.t.Errorf("left %v", row)
		}
	}
}
