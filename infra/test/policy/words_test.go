package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestWordsCheckFindsPatternsInEveryProseType(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"docs/a.md": "# A\n\nThe key is another than the first.\n\n`anew` in code counts as well here.\n",
		"a/a.go": "package a\n\n// Deps is what the endpoint works with.\ntype Deps struct{}\n\n" +
			"// Search returns what the server knows.\nvar text = \"The owner is told at once.\"\n",
		"a/a_test.go": "package a\n\nfunc TestAStateWorksOnce() {}\n\nfunc TestStateIsSingleUse() {}\n\n" +
			"func TestAPIReturnsError() {}\n\nfunc TestDeliveryOfSomebodyIsSkipped() {}\n",
		"shared/ui/dashboard/a.tsx": "const text = 'Type your address anew.'\n",
	})
	finds(t, policy.Words(tree),
		`a/a.go:3: "Deps is what": say what it does or holds`,
		`a/a.go:7: "is told": reports, states, receives`,
		"a/a_test.go:3: TestAStateWorksOnce: want Test<Unit><Behaviour>When<Condition>",
		"a/a_test.go:9: TestDeliveryOfSomebodyIsSkipped: want Test<Unit><Behaviour>When<Condition>",
		`docs/a.md:3: "another than": different from`, `docs/a.md:5: "anew": again`,
		`shared/ui/dashboard/a.tsx:1: "anew": again`,
	)
}
