package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/export/checkpoint"
)

// documents decodes the JSON documents of a stored checkpoint and sorts their hashes.
func documents(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for reader := json.NewDecoder(bytes.NewReader(body)); ; {
		var one map[string]any
		err := reader.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, marks := range []string{"written", "noted"} {
			if packed, ok := one[marks].(string); ok {
				var raw []byte
				if err := json.Unmarshal([]byte(`"`+packed+`"`), &raw); err != nil {
					t.Fatal(err)
				}
				parts := slices.Collect(slices.Chunk(raw, 8))
				slices.SortFunc(parts, bytes.Compare)
				one[marks] = slices.Concat(parts...)
			}
		}
		all = append(all, one)
	}
}

// TestStoredCheckpointRoundTrips checks that stored checkpoints remain readable, because exports are in progress during
// every deployment. The test files cover the first version of the format, with every field set, and a version that
// contains learned settings.
func TestStoredCheckpointRoundTrips(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checkpoint.json", "checkpoint_learned.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			var files memory.Files
			files.Put("k1", stored)
			state, err := checkpoint.Load(t.Context(), &files, "k1")
			if err != nil {
				t.Fatal(err)
			}
			if err = state.Save(t.Context(), &files, "k2"); err != nil {
				t.Fatal(err)
			}
			want := documents(t, stored)
			want[0]["spent"] = append(want[0]["spent"].([]any), "k1")
			again, _ := files.Get("k2")
			if diff := cmp.Diff(want, documents(t, again)); diff != "" {
				t.Errorf("stored again (-want +got):\n%s", diff)
			}
			if !state.IsWritten(checkpoint.MarkOf("Patient/p1")) || state.IsNew("Organization", "Organization/o1", 1) ||
				!state.IsNew("Organization", "Organization/o2", 1) {
				t.Error("what was come across is not known any more")
			}
		})
	}
}

func TestLoadFailsWhenCheckpointIsMissingOrTruncated(t *testing.T) {
	t.Parallel()
	stored, err := os.ReadFile("testdata/checkpoint.json")
	if err != nil {
		t.Fatal(err)
	}
	var files memory.Files
	files.Put("cut", stored[:len(stored)-20])
	for _, key := range []string{"gone", "cut"} {
		if got, failure := checkpoint.Load(t.Context(), &files, key); failure == nil {
			t.Errorf("%s: got %+v", key, got)
		}
	}
	state, err := checkpoint.Load(t.Context(), &files, "")
	if err != nil || state.Server.Planned || state.Full() {
		t.Errorf("an export that begins: %+v, %v", state, err)
	}
}
