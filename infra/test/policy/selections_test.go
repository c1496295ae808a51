package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestSelectionsCheckFindsPatternWithoutTest(t *testing.T) {
	t.Parallel()
	finds(t, policy.Selections(files(t, map[string]string{
		"a/a_test.go": "package a_test\n\nfunc TestOneThing() {}\n\nfunc BenchmarkTwo() {}\n",
		"Makefile": "CROWDS := OneThing.*/^part$$|Gone\n\nx:\n\tgo test -short \\\n\t\t-run '$(CROWDS)' ./a\n" +
			"\tgo test -run '^$$' -bench . ./a\n\tgo test -run 'Thing$$' ./a\n",
		".ci/run":   "go test -count=1 -run TwoThings ./a\nmake e2e ARGS='-skip Renamed'\n",
		"docs/a.md": "Run `go test -v -run Missing ./a` or `go test -run OneThing ./a`.\n",
	})),
		`.ci/run: -run or -skip Renamed: no test matches "Renamed"`,
		`.ci/run: -run or -skip TwoThings: no test matches "TwoThings"`,
		`Makefile: -run or -skip OneThing.*/^part$|Gone: no test matches "Gone"`,
		`docs/a.md: -run or -skip Missing: no test matches "Missing"`,
	)
}
