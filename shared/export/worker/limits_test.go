package worker_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/export"
)

// documents returns the JSON documents in the task's checkpoint.
func (b *bench) documents(t *testing.T) (list []map[string]any) {
	t.Helper()
	reader := json.NewDecoder(bytes.NewReader(b.object(t, b.task().Checkpoint)))
	for {
		var one map[string]any
		err := reader.Decode(&one)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
}

func (b *bench) edit(t *testing.T, change func([]map[string]any) []map[string]any) {
	t.Helper()
	var body bytes.Buffer
	out := json.NewEncoder(&body)
	for _, one := range change(b.documents(t)) {
		if err := out.Encode(one); err != nil {
			t.Fatal(err)
		}
	}
	b.files.Put(b.task().Checkpoint, body.Bytes())
}

func TestEndlessRecordIsTruncatedAndReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.work(t, 77*time.Second) // only one handover, after the first searches
		b.edit(t, func(all []map[string]any) []map[string]any {
			marks := make([]byte, 8*500_000)
			for i := range 500_000 {
				binary.BigEndian.PutUint64(marks[8*i:], uint64(i))
			}
			return append(all, map[string]any{"written": marks})
		})
		b.finish(t)
		if got := outcomeOf(t, b.task(), "Observation").Result; got != export.OutcomeFailed &&
			got != export.OutcomeTruncated {
			t.Errorf("a type that was not read: %s", got)
		}
		if slices.Contains(names(t, b.file(t)), "Observation/o4") {
			t.Error("the searches went on")
		}
	})
}

func TestReferenceQueueCountsOverflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		many := func(first int) string {
			references := make([]string, 0, 40_000)
			for i := first; i < first+cap(references); i++ {
				references = append(references, fmt.Sprintf(`{"reference":"Device/%d"}`, i))
			}
			return strings.Join(references, ",")
		}
		for i, id := range []string{"c1", "c2", "c3"} {
			b.server.resources["Condition/"+id] = `{"resourceType":"Condition","id":"` + id + `","evidence":[` +
				many(40_000*i) + `]}`
		}
		b.work(t, 79*time.Second)
		waiting := 0
		b.edit(t, func(all []map[string]any) []map[string]any {
			for _, one := range all {
				refs, _ := one["refs"].([]any)
				waiting += len(refs)
			}
			return slices.DeleteFunc(all, func(one map[string]any) bool { return one["refs"] != nil })
		})
		if waiting != 100_000 {
			t.Errorf("%d references wait, want 100,000", waiting)
		}
		b.finish(t)
		if got := outcomeOf(t, b.task(), "Device"); got.Missing < 20_000 || got.Result != export.OutcomeTruncated {
			t.Errorf("got %+v", got)
		}
	})
}

// TestCheckpointOfPreviousVersionCanBeResumed covers the previous checkpoint format: a single document that contains
// all lists but no marks (MarkOf) for waiting references.
func TestCheckpointOfPreviousVersionCanBeResumed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.server.latency = time.Second
		b.work(t, 79*time.Second)
		b.edit(t, func(all []map[string]any) []map[string]any {
			for _, more := range all[1:] {
				for name, list := range more {
					if all[0][name] != nil {
						t.Fatalf("%s is in two documents", name)
					}
					all[0][name] = list
				}
			}
			if all[0]["refs"] == nil || all[0]["written"] == nil {
				t.Fatalf("nothing waits, or nothing is written: %v", all[0])
			}
			delete(all[0], "noted")
			return all[:1]
		})
		b.finish(t)
		wantSameExport(t, b, file, whole)
	})
}
