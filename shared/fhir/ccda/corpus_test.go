package ccda_test

import (
	"os"
	"testing"

	"recordbridge/shared/testkit/ccdatest"
)

// TestConvertFollowsGuide converts each document of testdata/corpus, and compares the result with what its rule wants.
func TestConvertFollowsGuide(t *testing.T) {
	t.Parallel()
	for _, c := range ccdatest.Corpus(t, os.DirFS("testdata/corpus")) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Check(t)
		})
	}
}
