package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestCompatibilityFindsRowWithoutExistingTest(t *testing.T) {
	t.Parallel()
	finds(t, policy.Compatibility(files(t, map[string]string{
		"docs/compatibility.md": "# Clients\n| Client | Test |\n|---|---|\n| a | `TestA` |\n| b | `TestB` |\n| c | by hand " +
			"|\n| d | `a title` |\n| e | `no title`, `TestA` |\n| f | `a journey` |\n",
		"a/a_test.go":  "package a\n\nfunc TestA() {}\n",
		"a/a.go":       "package a\n\nfunc TestB() {}\n",
		"ui/a.test.ts": "test(\"a title\", () => {});\n",
		"ui/a.spec.ts": "test(\"a journey\", async () => {});\n// test(\"no title\"\n",
	})),
		"docs/compatibility.md: the row of c names no test",
		"docs/compatibility.md: there is no test TestB",
		"docs/compatibility.md: there is no test no title",
	)
}
