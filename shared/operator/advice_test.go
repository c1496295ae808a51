package operator_test

import (
	"strings"
	"testing"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/deliverylog"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/operator"
	"recordbridge/shared/webhook"
)

const (
	ofOwner = "-org 0a000000-0000-4000-8000-00000000000a -mode test"
	probing = "ctl endpoint test -id ENDPOINT " + ofOwner + " -token-request"
)

func TestWhatHelpsAConnectionIsSaidWithItsCommand(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	for name, test := range map[string]struct {
		set  func(c *operator.Connection)
		want string
	}{
		"well":        {func(*operator.Connection) {}, "Nothing."},
		"declined":    {func(c *operator.Connection) { c.Status = connection.Rejected }, "connects again"},
		"withdrawn":   {func(c *operator.Connection) { c.Status, c.Refresh.Ended = connection.Revoked, "invalid_grant" }, "has to reconnect; whether the organisation was told: ctl webhook log " + ofOwner + " -type patient.authorization_revoked"},
		"given up":    {func(c *operator.Connection) { c.Status, c.Refresh.Ended = connection.Revoked, connection.Disconnected }, "Its organisation gave it up"},
		"no status":   {func(c *operator.Connection) { c.Status = "" }, "restore the row"},
		"held":        {func(c *operator.Connection) { c.Refresh.RefusedAt = noon }, "after 2026-03-04T13:00:00Z: " + probing},
		"never due":   {func(c *operator.Connection) { c.Refresh.RefreshAt, c.Refresh.Failures = time.Time{}, 1 }, "nothing that is ever renewed"},
		"failing":     {func(c *operator.Connection) { c.Refresh.Failures, c.Refresh.FailureClass = 3, "server_fault" }, "tried again at 2026-03-04T13:00:00Z, and revokes nothing: " + probing},
		"broken seal": {func(c *operator.Connection) { c.Refresh.Failures, c.Refresh.FailureClass = 3, "TOKENS.sealed" }, "row TOKENS cannot be read at sealed"},
		"overdue":     {func(c *operator.Connection) { c.Refresh.RefreshAt = noon.Add(-2 * time.Hour) }, "docs/runbooks/refreshscheduler-silent.md"},
		"unrenewable": {func(c *operator.Connection) { c.Refresh.Unrenewable = true }, "ends at 2026-03-04T13:00:00Z"},
		"damaged":     {func(c *operator.Connection) { c.Damaged = []fault.Spot{{Row: "CONN", Attribute: "status"}} }, "Row CONN cannot be read at status"},
		"lost exports": {func(c *operator.Connection) {
			c.Exports = []operator.Export{{Task: export.Task{ID: "TASK", Status: export.Failed}}}
		}, "ctl export show " + ofOwner + " -id TASK"},
	} {
		c := operator.Connection{Connection: connection.Connection{
			ID: "CONN", Tenant: owner, Status: connection.Authorized, EndpointID: "ENDPOINT", Refresh: connection.RefreshState{RefreshAt: later},
		}}
		test.set(&c)
		if got := operator.AdviseConnection(c, noon); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWhatHelpsAnExportIsSaidWithItsCommand(t *testing.T) {
	t.Parallel()
	failed := func(reason export.Reason) func(*operator.Export) {
		return func(e *operator.Export) { e.Status, e.FailureReason = export.Failed, reason }
	}
	for name, test := range map[string]struct {
		set  func(e *operator.Export)
		want string
	}{
		"whole":         {func(*operator.Export) {}, "Nothing."},
		"waiting":       {func(e *operator.Export) { e.Status = export.Pending }, "goes on by itself"},
		"put off":       {func(e *operator.Export) { e.Status, e.Failures, e.NextAt = export.Pending, 1, noon.Add(time.Minute) }, "by itself at 2026-03-04T12:01:00Z, and fails after five in a row: " + probing},
		"at work again": {func(e *operator.Export) { e.Status, e.Failures, e.Generation = export.Pending, 1, 2 }, "Nothing; it goes on by itself."},
		"untaken":       {func(e *operator.Export) { e.Status, e.CreatedAt = export.Pending, noon.Add(-10*time.Minute) }, "No worker has taken it up"},
		"in line": {func(e *operator.Export) {
			e.Status, e.CreatedAt, e.WaitingSince, e.Generation = export.Pending, noon.Add(-7*time.Hour), noon.Add(-7*time.Hour), 1
		}, "It waits in line"},
		"long in line before": {func(e *operator.Export) {
			e.Status, e.CreatedAt, e.Waited, e.Generation = export.Pending, noon.Add(-7*time.Hour), 6*time.Hour, 1
		}, "Nothing; it goes on by itself."},
		"too long": {func(e *operator.Export) { e.Status, e.CreatedAt = export.Pending, noon.Add(-7*time.Hour) }, "longer than an export may be"},
		"tokens":   {failed(export.TokenRefreshFailure), "ctl connection show " + ofOwner + " -id CONN"},
		"scope":    {failed(export.ScopePatientMissing), "reconnects and allows"},
		"patient":  {failed(export.ResourcePatientFailure), "did not give the Patient; see what our registration has there: " + probing},
		"content":  {failed(export.ResourceInvalidContent), "Tell the institution"},
		"server": {func(e *operator.Export) {
			failed(export.SuppressedPleaseContact)(e)
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossUnavailable}}
		}, "the organisation asks again: " + probing},
		"server, from the start": {failed(export.SuppressedPleaseContact), "demanded a longer wait than the export had time for; its log line has the class: " + probing},
		"left alone": {func(e *operator.Export) {
			e.Status, e.PutOff, e.NextAt, e.Generation = export.Pending, true, noon.Add(time.Minute), 2
		}, "It is put off, as a rule because its server demands to be left alone; it goes on by itself at 2026-03-04T12:01:00Z."},
		"no reason": {failed("other"), "Its reason is none that there is"},
		"no status": {func(e *operator.Export) { e.Status = "" }, "restore the row"},
		"refused": {func(e *operator.Export) {
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossRefused, Status: 403}}
		}, probing},
		"not whole": {func(e *operator.Export) {
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossUnavailable}}
		}, "The record is not whole"},
		"deleted": {func(e *operator.Export) { e.FilesUntil = noon }, "have been deleted"},
		"untold": {func(e *operator.Export) {
			e.Deliveries = []deliverylog.Entry{{Delivery: webhook.Delivery{Status: webhook.Exhausted}}}
		}, "ctl webhook log " + ofOwner + " -delivery EVENT"},
		"damaged": {func(e *operator.Export) { e.Damaged = []fault.Spot{{Row: "TASK", Attribute: "options"}} }, "Row TASK cannot be read at options"},
	} {
		e := operator.Export{EventID: "EVENT", Task: export.Task{
			ID: "TASK", Tenant: owner, ConnectionID: "CONN", Status: export.Success, CreatedAt: noon, FilesUntil: noon.Add(time.Hour),
		}}
		test.set(&e)
		if got := operator.AdviseExport(e, "ENDPOINT", noon); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := operator.AdviseExport(e, "", noon); strings.Contains(got, "ctl endpoint") {
			t.Errorf("%s, at an endpoint that cannot be read: %q", name, got)
		}
	}
}
