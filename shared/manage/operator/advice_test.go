package operator_test

import (
	"strings"
	"testing"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

const (
	ofOwner = "-org 0a000000-0000-4000-8000-00000000000a -mode test"
	probing = "ctl endpoint test -id ENDPOINT " + ofOwner + " -token-request"
)

func TestAdviceForConnectionSuggestsCommand(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	for name, test := range map[string]struct {
		set  func(c *operator.Connection)
		want string
	}{
		"well":     {func(*operator.Connection) {}, "Nothing."},
		"declined": {func(c *operator.Connection) { c.Status = connection.Rejected }, "patient reconnect"},
		"withdrawn": {
			func(c *operator.Connection) { c.Status, c.Refresh.Ended = connection.Revoked, "invalid_grant" },
			"Have the patient reconnect. To check whether the organisation was notified, run ctl webhook log " + ofOwner +
				" -type patient.authorization_revoked",
		},
		"given up": {func(c *operator.Connection) {
			c.Status, c.Refresh.Ended = connection.Revoked,
				connection.Disconnected
		}, "The organisation revoked it"},
		"no status": {func(c *operator.Connection) { c.Status = "" }, "restore the row"},
		"held": {
			func(c *operator.Connection) { c.Refresh.RefusedAt = noon },
			"after 2026-03-04T13:00:00Z: " + probing,
		},
		"never due": {
			func(c *operator.Connection) { c.Refresh.RefreshAt, c.Refresh.Failures = time.Time{}, 1 },
			"ctl restore tokens " + ofOwner,
		},
		"no tokens for its last export": {
			func(c *operator.Connection) {
				c.Exports = []operator.Export{{Task: export.Task{
					Status: export.Failed, FailureReason: export.TokenRefreshFailure,
				}}}
			},
			"ctl restore tokens " + ofOwner,
		},
		"failing": {
			func(c *operator.Connection) { c.Refresh.Failures, c.Refresh.FailureClass = 3, "server_fault" },
			"retried at 2026-03-04T13:00:00Z; the connection is not revoked: " + probing,
		},
		"broken seal": {
			func(c *operator.Connection) { c.Refresh.Failures, c.Refresh.FailureClass = 3, "TOKENS.sealed" },
			"sealed of its TOKENS row can't be read",
		},
		"overdue": {
			func(c *operator.Connection) { c.Refresh.RefreshAt = noon.Add(-2 * time.Hour) },
			"docs/operate/runbooks/schedule-silent.md",
		},
		"unrenewable": {func(c *operator.Connection) { c.Refresh.Unrenewable = true }, "ends at 2026-03-04T13:00:00Z"},
		"damaged": {
			func(c *operator.Connection) { c.Damaged = []fault.Spot{{Row: "CONN", Attribute: "status"}} },
			"Row CONN can't be read at status",
		},
		"lost exports": {func(c *operator.Connection) {
			c.Exports = []operator.Export{{Task: export.Task{ID: "TASK", Status: export.Failed}}}
		}, "ctl export show " + ofOwner + " -id TASK"},
	} {
		c := operator.Connection{Connection: connection.Connection{
			ID: "CONN", Tenant: owner, Status: connection.Authorized, EndpointID: "ENDPOINT",
			Patient: secret.Mark{Version: 1, Sum: []byte("p")}, Refresh: connection.RefreshState{RefreshAt: later},
		}}
		test.set(&c)
		if got := operator.AdviseConnection(c, noon); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestAdviceForExportSuggestsCommand(t *testing.T) {
	t.Parallel()
	failed := func(reason export.Reason) func(*operator.Export) {
		return func(e *operator.Export) { e.Status, e.FailureReason = export.Failed, reason }
	}
	for name, test := range map[string]struct {
		set  func(e *operator.Export)
		want string
	}{
		"whole":   {func(*operator.Export) {}, "Nothing."},
		"waiting": {func(e *operator.Export) { e.Status = export.Pending }, "continue automatically"},
		"put off": {func(e *operator.Export) {
			e.Status, e.Failures, e.NextAt = export.Pending, 1,
				noon.Add(time.Minute)
		}, "retry at 2026-03-04T12:01:00Z and fail after five consecutive failures: " + probing},
		"at work again": {
			func(e *operator.Export) { e.Status, e.Failures, e.Generation = export.Pending, 1, 2 },
			"No action needed; it will continue automatically.",
		},
		"untaken": {
			func(e *operator.Export) { e.Status, e.CreatedAt = export.Pending, noon.Add(-10*time.Minute) },
			"No worker has started it",
		},
		"in line": {func(e *operator.Export) {
			e.Status, e.CreatedAt, e.WaitingSince, e.Generation = export.Pending, noon.Add(-7*time.Hour),
				noon.Add(-7*time.Hour), 1
		}, "It is queued"},
		"long in line before": {func(e *operator.Export) {
			e.Status, e.CreatedAt, e.Waited, e.Generation = export.Pending, noon.Add(-7*time.Hour), 6*time.Hour, 1
		}, "No action needed; it will continue automatically."},
		"too long": {
			func(e *operator.Export) { e.Status, e.CreatedAt = export.Pending, noon.Add(-7*time.Hour) },
			"longer than the limit",
		},
		"tokens": {failed(export.TokenRefreshFailure), "ctl connection show " + ofOwner + " -id CONN"},
		"scope":  {failed(export.ScopePatientMissing), "reconnect and allow"},
		"patient": {
			failed(export.ResourcePatientFailure),
			"did not return the Patient. Check our registration there: " + probing,
		},
		"content": {failed(export.ResourceInvalidContent), "Tell the institution"},
		"server": {func(e *operator.Export) {
			failed(export.SuppressedPleaseContact)(e)
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossUnavailable}}
		}, "the organisation can request another export: " + probing},
		"server, from the start": {
			failed(export.SuppressedPleaseContact),
			"required a longer wait than the export's time limit. Its log line has the class: " + probing,
		},
		"left alone": {func(e *operator.Export) {
			e.Status, e.Deferred, e.NextAt, e.Generation = export.Pending, true, noon.Add(time.Minute), 2
		}, "It is deferred, usually because its server requires a wait or an AWS service failed. It will continue at " +
			"2026-03-04T12:01:00Z."},
		"scope that nobody requested": {func(e *operator.Export) {
			failed(export.ScopePatientMissing)(e)
			e.Scope = export.Scope{Asked: "openid patient/Account.rs", Granted: "patient/Account.rs"}
		}, "Our authorization request did not include Patient. Add"},
		"scope chosen at registration": {func(e *operator.Export) {
			failed(export.ScopePatientMissing)(e)
			e.Scope = export.Scope{Asked: "openid fhirUser", Granted: "patient/Observation.read"}
		}, "scopes are chosen at registration"},
		"scope that means nothing": {func(e *operator.Export) {
			failed(export.ScopePatientMissing)(e)
			e.Scope = export.Scope{Asked: "patient/*.rs", Granted: "patient/*.rs"}
		}, "grants Patient and refuses everything else"},
		"not requested": {func(e *operator.Export) {
			e.Outcome = []export.TypeOutcome{
				{Type: "Account", Reason: export.LossNotRequested},
				{Type: "Claim", Reason: export.LossNotRequested},
			}
		}, "did not include Account, Claim. Add"},
		"no reason": {failed("other"), "Its reason is unknown"},
		"no status": {func(e *operator.Export) { e.Status = "" }, "restore the row"},
		"refused": {func(e *operator.Export) {
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossRefused, Status: 403}}
		}, probing},
		"incomplete": {func(e *operator.Export) {
			e.Outcome = []export.TypeOutcome{{Type: "Observation", Reason: export.LossUnavailable}}
		}, "The record is incomplete"},
		"deleted": {func(e *operator.Export) { e.FilesUntil = noon }, "have been deleted"},
		"untold": {func(e *operator.Export) {
			e.Deliveries = []deliverylog.Entry{{Delivery: webhook.Delivery{Status: webhook.Exhausted}}}
		}, "ctl webhook log " + ofOwner + " -delivery EVENT"},
		"damaged": {
			func(e *operator.Export) { e.Damaged = []fault.Spot{{Row: "TASK", Attribute: "options"}} },
			"Row TASK can't be read at options",
		},
	} {
		e := operator.Export{EventID: "EVENT", Task: export.Task{
			ID: "TASK", Tenant: owner, ConnectionID: "CONN", Status: export.Success, CreatedAt: noon,
			FilesUntil: noon.Add(time.Hour),
		}}
		test.set(&e)
		of := operator.Connection{Connection: connection.Connection{
			ID: "CONN", Tenant: owner, Status: connection.Authorized, EndpointID: "ENDPOINT",
			Patient: secret.Mark{Version: 1, Sum: []byte("p")},
		}}
		if got := operator.AdviseExport(e, of, noon); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := operator.AdviseExport(e, operator.Connection{}, noon); strings.Contains(got, "ctl endpoint") {
			t.Errorf("%s, at an endpoint that cannot be read: %q", name, got)
		}
	}
}

func TestBlameForReturnsPartyResponsibleForFailureOrGaps(t *testing.T) {
	t.Parallel()
	gap := func(reasons ...export.LossReason) func(*operator.Export, *operator.Connection) {
		return func(e *operator.Export, _ *operator.Connection) {
			e.Status = export.Success
			for _, reason := range reasons {
				e.Outcome = append(e.Outcome, export.TypeOutcome{Type: string(reason), Reason: reason})
			}
		}
	}
	scope := func(asked, granted string) func(*operator.Export, *operator.Connection) {
		return func(e *operator.Export, _ *operator.Connection) {
			e.FailureReason, e.Scope = export.ScopePatientMissing, export.Scope{Asked: asked, Granted: granted}
		}
	}
	tokens := func(set func(r *connection.RefreshState)) func(*operator.Export, *operator.Connection) {
		return func(e *operator.Export, c *operator.Connection) {
			e.FailureReason = export.TokenRefreshFailure
			set(&c.Refresh)
		}
	}
	failed := func(reason export.Reason) func(*operator.Export, *operator.Connection) {
		return func(e *operator.Export, _ *operator.Connection) { e.FailureReason = reason }
	}
	for name, test := range map[string]struct {
		set  func(e *operator.Export, c *operator.Connection)
		want operator.Blame
	}{
		"a whole record":            {gap(export.LossUnsupported, export.LossNotGranted), ""},
		"types not requested":       {gap(export.LossNotRequested, export.LossUnavailable), operator.BlameRegistration},
		"our own limit":             {gap(export.LossLimit), operator.BlameService},
		"a server that fails":       {gap(export.LossUnavailable), operator.BlamePortal},
		"a Patient withheld":        {scope("patient/*.rs", "patient/Goal.rs"), operator.BlamePatient},
		"a Patient not requested":   {scope("patient/Goal.rs", "patient/Goal.rs"), operator.BlameRegistration},
		"a Patient not registered":  {scope("openid fhirUser", "patient/Goal.read"), operator.BlameRegistration},
		"a grant that opens none":   {scope("patient/*.rs", "patient/*.rs"), operator.BlamePortal},
		"a task without its scopes": {scope("", ""), operator.BlamePatient},
		"consent withdrawn": {
			tokens(func(r *connection.RefreshState) { r.Ended = "invalid_grant" }),
			operator.BlamePatient,
		},
		"a wrong secret": {tokens(func(r *connection.RefreshState) {
			r.Failures, r.FailureClass = 1,
				"invalid_client"
		}), operator.BlameRegistration},
		"no refresh tokens": {
			tokens(func(r *connection.RefreshState) { r.Ended = connection.AccessEnded }),
			operator.BlameRegistration,
		},
		"a token endpoint down": {tokens(func(r *connection.RefreshState) {
			r.Failures, r.FailureClass = 1,
				"server_fault"
		}), operator.BlamePortal},
		"a seal that is broken": {tokens(func(r *connection.RefreshState) {
			r.Failures, r.FailureClass = 1,
				"TOKENS.sealed"
		}), operator.BlameService},
		"a refresh that worked": {tokens(func(*connection.RefreshState) {}), ""},
		"no patient named":      {failed(export.ResourcePatientFailure), operator.BlamePortal},
		"a broken Patient":      {failed(export.ResourceInvalidContent), operator.BlamePortal},
		"no documents":          {failed(export.TEFCANoDocumentsFound), ""},
		"out of time":           {failed(export.SuppressedPleaseContact), operator.BlameService},
		"still running":         {func(e *operator.Export, _ *operator.Connection) { e.Status = export.Pending }, ""},
	} {
		e := operator.Export{Task: export.Task{ID: "TASK", Tenant: owner, Status: export.Failed}}
		c := operator.Connection{Connection: connection.Connection{
			ID: "CONN", Tenant: owner, Status: connection.Authorized,
			EndpointID: "ENDPOINT",
		}}
		test.set(&e, &c)
		if got := operator.BlameFor(e, c); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
