package worker_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

func TestWorkerReportsTypesOutsideScopesWithoutRequestingThem(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]string{
		"version 1": "patient/Patient.read patient/Condition.read",
		"version 2": "patient/Patient.rs patient/Condition.rs patient/Observation.r",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.tokens.set.Scope = scope
				b.work(t, 0)
				for _, denied := range []string{"Observation", "DocumentReference", "Goal", "MedicationRequest"} {
					if got, want := outcomeOf(t, b.task(), denied),
						(export.TypeOutcome{Type: denied, Result: export.OutcomeDenied, Reason: export.LossNotGranted}); got != want {
						t.Errorf("got %+v, want %+v", got, want)
					}
				}
				if got := b.server.times(findObservations); got != 0 {
					t.Errorf("asked %d times for what was not granted", got)
				}
			})
		})
	}
}

func TestWorkerRequestsAllTypesWhenScopesAreUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tokens.set.Scope = ""
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestWorkerRenewsTokenOnceAfter401(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script(observations2, answer{status: 401})
		b.server.script(readPatient, answer{normal: true}, answer{status: 401})
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if b.tokens.renewed != 1 || !b.server.bearers["Bearer renewed"] {
			t.Errorf("renewed %d times, tokens %v", b.tokens.renewed, b.server.bearers)
		}
	})
}

// Some servers return 401 for a type that was not granted. The worker must not refresh a token that can still read the
// Patient.
func TestWorkerReportsTypeDeniedAfter401WhenTokenStillWorks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script(findObservations, answer{status: 401, always: true})
		b.work(t, 0)
		want := without(wholeRecord(), "Observation")
		if diff := cmp.Diff(want, names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		denied := export.TypeOutcome{
			Type: "Observation", Result: export.OutcomeDenied, Status: 401,
			Reason: export.LossRefused,
		}
		if diff := cmp.Diff(denied, outcomeOf(t, b.task(), "Observation")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if asked, read := b.server.times(findObservations), b.server.times(readPatient); asked != 1 || read != 2 ||
			b.tokens.renewed != 0 {
			t.Errorf("asked for the type %d times and for the Patient %d times, %d renewals; want 1, 2 and 0", asked, read,
				b.tokens.renewed)
		}
	})
}
