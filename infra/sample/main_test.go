package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
)

func TestParseDiffReturnsAddedLinesOfEachFile(t *testing.T) {
	t.Parallel()
	const diff = `diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -3,2 +4,3 @@ func f() {
+one
+two
+three
@@ -9 +12 @@
+four
diff --git a/gone.go b/gone.go
--- a/gone.go
+++ /dev/null
@@ -1,2 +0,0 @@
`
	want := map[string]lines{"a.go": {4: true, 5: true, 6: true, 12: true}}
	if diff := cmp.Diff(want, parseDiff(diff)); diff != "" {
		t.Error(diff)
	}
}

// repository creates a Git repository with a commit and an uncommitted change to a document.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	git := func(args ...string) {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	git("init", "--quiet")
	write(t, root, "An old sentence that stays.\n")
	git("add", "--all")
	git("-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "first")
	write(t, root, "An old sentence that stays.\n\nA new sentence, number one. A new sentence, number two.\n")
	return root
}

func write(t *testing.T, root, text string) {
	t.Helper()
	expect.NoError(t, os.WriteFile(filepath.Join(root, "a.md"), []byte(text), 0o600))
}

func TestRunPrintsChangedSentences(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for base, want := range map[string]int{"HEAD": 2, "": 3} {
		var out strings.Builder
		expect.NoError(t, run([]string{"-root", root, "-base", base, "-group", "document"}, &out))
		if n := strings.Count(out.String(), "a.md:"); n != want {
			t.Errorf("since %q: %d sentences, want %d: %s", base, n, want, out.String())
		}
	}
}

func TestRunIsDeterministicForSeed(t *testing.T) {
	t.Parallel()
	root := repository(t)
	selected := func(seed string) string {
		var out strings.Builder
		expect.NoError(t, run([]string{"-root", root, "-n", "1", "-seed", seed}, &out))
		_, rest, _ := strings.Cut(out.String(), "\n")
		return rest
	}
	seen := map[string]bool{}
	for _, seed := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		first, second := selected(seed), selected(seed)
		if first != second {
			t.Error("the same seed selects different sentences")
		}
		seen[first] = true
	}
	if len(seen) < 2 {
		t.Error("every seed selects the same sentence")
	}
}
