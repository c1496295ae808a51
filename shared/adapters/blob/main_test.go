package blob_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain reduces the number of property checks unless a flag sets it. Each check processes tens of megabytes, and the
// race detector instruments every memory access.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", "6"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
