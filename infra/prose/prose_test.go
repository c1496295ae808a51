package prose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/prose"
)

func TestSentencesAreExtractedFromEachFileType(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct{ content, want string }{
		"docs/a.md": {
			"# Verify a signature here\n\nCompute the MAC. Compare it\nin constant time.\n\n" +
				"```sh\nmake it run now please\n```\n| one two three four | no | `a` `b` `c` `d` |\n" +
				"<!-- table x -->\n| five six seven eight |\n<!-- end -->\n",
			"document 1-1 Verify a signature here\ndocument 3-4 Compare it in constant time.\n" +
				"document 9-9 one two three four\n",
		},
		"CHANGELOG.md": {"- Added a command for this.\n", "changelog 1-1 Added a command for this.\n"},
		"a_test.go": {
			"package a\n\n// TestOne reads it twice.\nfunc TestOne() { f(\"a string of test data\") }\n",
			"comment 3-3 TestOne reads it twice.\ntest 4-4 TestOne\n",
		},
		"a.go": {
			"package a\n\n//go:generate go run this tool now\nvar e = \"The URL is not valid.\"\n",
			"string 4-4 The URL is not valid.\n",
		},
		"shared/ui/kit/words/en.ts": {
			"  title: 'Connect your health records',\n", "patient 1-1 Connect your health records\n",
		},
		"shared/ui/embed/a.tsx": {
			"/** Shows the element's wait until it ends. */\nf(); // the browser's own window stays\n" +
				"/**\n * Returns the first value\n * of the list.\n */\nconst b = 1 > s.a && x.y.z && d < 2;\n",
			"comment 1-1 Shows the element's wait until it ends.\ncomment 2-2 the browser's own window stays\n" +
				"comment 3-6 Returns the first value of the list.\n",
		},
		"shared/ui/dashboard/a.test.ts": {
			"test('shows it', () => f('a string of data'))\n", "test 1-1 shows it\n",
		},
		"shared/ui/dashboard/b.tsx": {`f("", go({ to, in: the, other: "mode" }))` + "\n", ""},
		"shared/ui/embed/icons.tsx": {`const d = "M15 5l-7 7 7 7 3-8 2 2";` + "\n", ""},
		"testdata/a.md":             {"Compare it in constant time.\n", ""},
		"a.sh":                      {"# Compare it in constant time.\n", ""},
	} {
		var got strings.Builder
		for _, s := range prose.Of(file, c.content) {
			fmt.Fprintf(&got, "%s %d-%d %s\n", s.Group, s.First, s.Last, s.Text)
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
