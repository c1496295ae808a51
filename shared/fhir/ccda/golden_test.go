package ccda_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/ccdatest"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestConvertMatchesGoldenFiles compares complete conversions with golden files that were verified against the source
// documents. After a rule changes, regenerate the files (-update) and review the diff.
func TestConvertMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alder", "birch"} {
		document, err := os.ReadFile("testdata/" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ccdatest.Lines(t, document)
		golden := "testdata/" + name + ".ndjson"
		if *update {
			if err = os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
