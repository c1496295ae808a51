package policy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/test/policy"
)

func files(t *testing.T, texts map[string]string) *policy.Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := policy.ReadTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// resources parses a template that consists of the given Resources section. The lines of the section must be indented
// by two spaces.
func resources(t *testing.T, section string) *policy.Stack {
	t.Helper()
	s, err := policy.ParseStack([]byte("Resources:\n" + section))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finds checks that a rule returns the expected findings in the expected order.
func finds(t *testing.T, got []policy.Finding, want ...string) {
	t.Helper()
	texts := make([]string, len(got))
	for i, f := range got {
		texts[i] = f.String()
	}
	if diff := cmp.Diff(want, texts, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// without returns text with part replaced by replacement. It fails the test if text does not contain part.
func without(t *testing.T, text, part, replacement string) string {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("the example does not hold %q", part)
	}
	return strings.Replace(text, part, replacement, 1)
}

func TestReadTreeSkipsBuildOutputAndPersonalFiles(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"a.md": "", "build/b.md": "", ".local/c.md": "", "x/node_modules/d.md": "", "x/testdata/e.md": "", "x/f.json": "{}",
		"x/build/g.go":         "package build",
		"x/testdata/broken.go": "no Go at all", "Makefile": "",
	})
	got := map[string]bool{}
	for _, f := range tree.Files {
		got[f.Path] = true
	}
	if diff := cmp.Diff([]string{"Makefile", "a.md", "x/build/g.go"}, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestReadTreeErrorNamesInvalidGoFile(t *testing.T) {
	t.Parallel()
	_, err := policy.ReadTree(fstest.MapFS{"x/y.go": &fstest.MapFile{Data: []byte("package")}})
	if err == nil || !strings.Contains(err.Error(), "x/y.go") {
		t.Errorf("got %v, want an error that names x/y.go", err)
	}
}
