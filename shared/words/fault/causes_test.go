package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"recordbridge/shared/words/fault"
)

func causes() fault.Causes {
	return fault.Causes{"late": {Shown: fault.New(fault.Upstream, fault.CodeUnavailable,
		"It took too long.").About("code"), Action: "Try again."}}
}

func TestCausesFailedReturnsErrorFromTable(t *testing.T) {
	t.Parallel()
	because := errors.New("x")
	err := fmt.Errorf("exchange: %w", causes().Failed("late", because))
	shown := fault.Of(err)
	if shown.Cause != "late" || shown.Code != fault.CodeUnavailable || shown.Public != "It took too long." ||
		shown.Field != "code" ||
		!errors.Is(err, fault.Upstream) || !errors.Is(err, because) || err.Error() != "exchange: late: svc_unavailable: x" {
		t.Errorf("it is told as %v: %+v", err, shown)
	}
	if cause := fault.Of(because).Cause; cause != "" {
		t.Errorf("an error of no table has the cause %q", cause)
	}
}
