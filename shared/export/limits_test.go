package export_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

// edit changes the checkpoint of the task.
func (b *bench) edit(t *testing.T, change func(map[string]any)) {
	t.Helper()
	state := map[string]any{}
	if err := json.Unmarshal(b.files.objects[b.store.task.Checkpoint], &state); err != nil {
		t.Fatal(err)
	}
	change(state)
	body, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	b.files.objects[b.store.task.Checkpoint] = body
}

func TestARecordThatNeverEndsIsEndedAndSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.hospital.latency = time.Second
		b.work(t, 78*time.Second) // one handover, after the first searches
		b.edit(t, func(state map[string]any) { state["counts"] = map[string]any{"Condition": 500_000} })
		b.finish(t)
		if got := outcomeOf(t, b.store.task, "Observation").Result; got != export.OutcomeFailed && got != export.OutcomeTruncated {
			t.Errorf("a type that was not read: %s", got)
		}
		if slices.Contains(names(t, b.file(t)), "Observation/o4") {
			t.Error("the searches went on")
		}
	})
}

func TestOnlySoMuchCanWaitToBeReadAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.hospital.latency = time.Second
		references := make([]string, 0, 200_010)
		for i := range cap(references) {
			references = append(references, fmt.Sprintf(`{"reference":"Device/%d"}`, i))
		}
		b.hospital.resources["Condition/c1"] = `{"resourceType":"Condition","id":"c1","evidence":[` + strings.Join(references, ",") + `]}`
		b.work(t, 80*time.Second)
		b.edit(t, func(state map[string]any) {
			waiting, ok := state["refs"].([]any)
			if !ok || len(waiting) != 200_000 {
				t.Errorf("%d references wait, want 200,000", len(waiting))
			}
			state["refs"] = waiting[:1]
		})
		b.finish(t)
		if got := outcomeOf(t, b.store.task, "Device"); got.Missing < 10 || got.Result != export.OutcomeTruncated && got.Result != export.OutcomeFailed && got.Result != export.OutcomeUnsupported {
			t.Errorf("got %+v", got)
		}
	})
}
