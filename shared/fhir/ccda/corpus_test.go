package ccda_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/testkit/ccdatest"
)

// TestConvertMatchesCorpusExpectations converts each document in testdata/corpus and compares the result with the
// expected output.
func TestConvertMatchesCorpusExpectations(t *testing.T) {
	t.Parallel()
	for _, c := range ccdatest.Corpus(t, os.DirFS("testdata/corpus")) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Check(t)
		})
	}
}

// TestCorpusIsWrittenToConfiguredFolder writes the corpus documents to the folder in RECORDBRIDGE_CORPUS, for an
// external validator (.ci/ccda).
func TestCorpusIsWrittenToConfiguredFolder(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("RECORDBRIDGE_CORPUS")
	if folder == "" {
		t.Skip("RECORDBRIDGE_CORPUS names no folder")
	}
	for _, c := range ccdatest.Corpus(t, os.DirFS("testdata/corpus")) {
		file := filepath.Join(folder, "corpus-"+strings.ReplaceAll(c.Name, "/", "-")+".xml")
		if err := os.WriteFile(file, []byte(c.Document), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
