package blob_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets properties be tried less often than usual, unless somebody says how often: one try moves tens of
// megabytes, and the race detector looks at each of them.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", "6"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
