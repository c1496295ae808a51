package identity_test

import (
	"testing"

	"recordbridge/shared/connect/tally"
	"recordbridge/shared/tefca/identity"
)

func TestCauseHasOutcomeForEachIdentityFailure(t *testing.T) {
	t.Parallel()
	for cause := range identity.Causes() {
		if outcome, known := tally.Cause(cause).Outcome(); !known || outcome == "" {
			t.Errorf("package tally doesn't classify %q", cause)
		}
	}
}
