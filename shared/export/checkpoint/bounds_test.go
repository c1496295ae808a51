package checkpoint_test

import (
	"strconv"
	"testing"

	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
)

func begun(t *testing.T) *checkpoint.State {
	t.Helper()
	state, err := checkpoint.Load(t.Context(), &memory.Files{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestAddReferenceCountsNewReferencesAsMissingWhenFull(t *testing.T) {
	t.Parallel()
	state := begun(t)
	const room = 100_000
	for i := range room {
		state.AddReference(checkpoint.Reference{Type: "Device", ID: strconv.Itoa(i)})
	}
	state.AddReference(checkpoint.Reference{Type: "Device", ID: "7"})
	if got := state.Accounts.Of("Device"); len(state.Work.Refs) != room || got.Missing != 0 {
		t.Errorf("%d wait, %+v", len(state.Work.Refs), got)
	}
	state.AddReference(checkpoint.Reference{Type: "Device", ID: "new"})
	if got := state.Accounts.Of("Device"); len(state.Work.Refs) != room || got.Missing != 1 ||
		got.Reason != export.LossLimit {
		t.Errorf("%d wait, %+v", len(state.Work.Refs), got)
	}
}
