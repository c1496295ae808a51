package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

func TestTypeIsReportedAsNotRequestedWhenMissingFromRequestedScopes(t *testing.T) {
	t.Parallel()
	const narrow = "patient/Patient.rs patient/AllergyIntolerance.rs"
	for name, test := range map[string]struct {
		asked  string
		reason export.LossReason
	}{
		"requested by type":       {narrow + " patient/Encounter.rs patient/Goal.rs", export.LossNotGranted},
		"requested by a wildcard": {"openid patient/*.rs", export.LossNotGranted},
		"not requested":           {narrow + " launch/patient", export.LossNotRequested},
		"chosen at registration":  {"openid fhirUser", export.LossNotGranted},
		"of an older connection":  {"", export.LossNotGranted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := lossBench(t, full, full, full)
				b.tokens.set.Scope, b.tokens.set.AskedScope = narrow, test.asked
				b.server.resources["AllergyIntolerance/one"] = `{"resourceType":"AllergyIntolerance","id":"one",` +
					`"encounter":{"reference":"Encounter/one"}}`
				b.server.script("Encounter/one", answer{status: 403, always: true})
				b.finish(t)
				for _, want := range []export.TypeOutcome{
					{Type: "Encounter", Result: export.OutcomeDenied, Missing: 1, Reason: test.reason, Status: 403},
					{Type: "Goal", Result: export.OutcomeDenied, Reason: test.reason},
				} {
					if diff := cmp.Diff(want, outcomeOf(t, b.task(), want.Type)); diff != "" {
						t.Errorf("outcome (-want +got):\n%s", diff)
					}
				}
				isLoss := test.reason == export.LossNotRequested
				if got := successData(t, b); strings.Contains(got, `"complete":false`) != isLoss ||
					strings.Contains(got, `"Encounter":"not_requested"`) != isLoss {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

func TestUnlistedTypeIsNotRequestedWithoutCapabilityStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script("metadata", answer{status: 404, always: true})
		b.tokens.set.Scope, b.tokens.set.AskedScope = "patient/Patient.rs patient/Condition.rs",
			"patient/Patient.rs patient/Condition.rs"
		b.finish(t)
		want := export.TypeOutcome{Type: "Schedule", Result: export.OutcomeDenied, Reason: export.LossNotRequested}
		if diff := cmp.Diff(want, outcomeOf(t, b.task(), "Schedule")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}

func TestFailedExportKeepsRequestedAndGrantedScopes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.set.Scope, b.tokens.set.AskedScope = "patient/Condition.read", "openid patient/Condition.read"
		b.finish(t)
		want := export.Scope{Asked: "openid patient/Condition.read", Granted: "patient/Condition.read"}
		if got := b.task(); got.FailureReason != export.ScopePatientMissing || got.Scope != want {
			t.Errorf("%s with %+v", got.FailureReason, got.Scope)
		}
	})
}
