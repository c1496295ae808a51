package e2e_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
)

// syntheaDir is a folder outside the repository that contains public synthetic bundles.
const syntheaDir = "../../../../shared/data/synthea"

// smallBundle is the maximum compressed size, in bytes, of bundles that are exported outside a soak.
const smallBundle = 60 << 10

// bundleIDs computes an export's expected content from the bundle file alone. The export must contain every resource
// exactly once.
func bundleIDs(t *testing.T, file string) (patient string, want map[string]map[string]int) {
	t.Helper()
	packed, err := os.Open(file)
	expect.NoError(t, err)
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	expect.NoError(t, err)
	var bundle struct {
		Entry []struct {
			Resource struct {
				Type string `json:"resourceType"`
				ID   string `json:"id"`
			} `json:"resource"`
		} `json:"entry"`
	}
	expect.NoError(t, json.NewDecoder(unpacked).Decode(&bundle))
	want = map[string]map[string]int{}
	for _, entry := range bundle.Entry {
		r := entry.Resource
		if r.Type == "Patient" {
			patient = r.ID
		}
		if want[r.Type] == nil {
			want[r.Type] = map[string]int{}
		}
		want[r.Type][r.ID]++
	}
	return patient, want
}

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	expect.NoError(t, err)
	return path
}

func TestEverySyntheaPatientIsExportedCompletely(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(syntheaDir, "*.json.gz"))
	expect.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no bundles in " + syntheaDir + ": the public test data is not beside the project")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			if info, err := os.Stat(file); !isSoak() && (err != nil || info.Size() > smallBundle) {
				t.Skip("so large a record is exported by make soak")
			}
			patient, want := bundleIDs(t, file)
			own := t.TempDir() // a separate folder, because the sandbox reads every file in its folder
			expect.NoError(t, os.Symlink(absolute(t, file), filepath.Join(own, filepath.Base(file))))
			synctest.Test(t, func(t *testing.T) {
				checkExport(t, newStack(t, options{dataDir: own}).outside, patient, want)
			})
		})
	}
}
