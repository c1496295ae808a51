package tokens_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/faults"
)

// storing returns rules that fail DynamoDB's UpdateItem calls with numbers from first to last. A refresh's first call
// leases the row, and its later calls store the token set. The SDK tries a failing call three times, and the store
// tries six times to complete a call that collides with another write.
func storing(kind faults.Kind, first, last int) []faults.Rule {
	var rules []faults.Rule
	for n := first; n <= last; n++ {
		rules = append(rules, faults.Rule{Service: "dynamodb", Operation: "UpdateItem", N: n, Kind: kind})
	}
	return rules
}

// TestRotatedTokenSetIsStoredDespiteAWSFaults checks that a rotated token set is stored exactly once, as the next
// version, and returned to the caller unless every try fails.
func TestRotatedTokenSetIsStoredDespiteAWSFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules []faults.Rule
		calls int // number of failed calls
	}{
		"throttled through two tries":       {storing(faults.Throttled, 2, 7), 6},
		"failing through three tries":       {storing(faults.FailedBefore, 2, 10), 9},
		"cut off through two tries":         {storing(faults.BrokenBefore, 2, 7), 6},
		"a collision through two tries":     {storing(faults.Conflicted, 2, 13), 12},
		"done, and answered with a failure": {storing(faults.FailedAfter, 2, 2), 1},
		"done, and the answer cut off":      {storing(faults.BrokenAfter, 2, 2), 1},
		"done, and the answer never came":   {storing(faults.TimedOutAfter, 2, 2), 1},
		"throttled, then done without answer": {append(storing(faults.Throttled, 2, 5),
			storing(faults.BrokenAfter, 6, 6)...), 5},
		"the lease without an answer": {storing(faults.BrokenAfter, 1, 1), 1},
		"done without answer, and no reading": {append(storing(faults.BrokenAfter, 2, 2),
			faults.Rule{Operation: "GetItem", N: 2, Kind: faults.FailedBefore},
			faults.Rule{Operation: "GetItem", N: 3, Kind: faults.FailedBefore},
			faults.Rule{Operation: "GetItem", N: 4, Kind: faults.FailedBefore}), 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plan := faults.New(faults.Options{Rules: test.rules})
				w := newWorldUnder(t, 0, plan)
				usable, err := w.manager("a").Current(t.Context(), tenant, connID)
				set, version := usable.Set, usable.Version
				if err != nil || version != 2 {
					t.Fatalf("version %d (%v), want 2 after %s", version, err, plan)
				}
				if got := len(plan.Injected()); got != test.calls {
					t.Errorf("%d calls failed, want %d: %s", got, test.calls, plan)
				}
				plan.Pause(true)
				stored, row := w.stored(t)
				if diff := cmp.Diff(stored, set); diff != "" || row.Version != 2 || stored.RefreshToken.Reveal() != w.ehr.valid {
					t.Errorf("version %d is stored, the EHR takes %q (-stored +handed out):\n%s", row.Version, w.ehr.valid, diff)
				}
				w.wantFree(t)
				w.wantMarked(t, false)
			})
		})
	}
}
