package policy_test

import (
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

// missing are the lists of what there is not yet, and what would stand in the repository if it were there.
func missing() []policy.Gaps {
	return []policy.Gaps{
		{Document: "README.md", Heading: "What is not there yet", Claims: []policy.Claim{
			{"TEFCA mode with a real network", `infra/test/qhin`},
		}},
	}
}

func TestWhatIsCalledMissingIsMissing(t *testing.T) {
	t.Parallel()
	source, functions := need(t, tree), need(t, resolved).Functions
	for _, list := range missing() {
		finds(t, policy.Missing(source, functions, list))
	}
}

func TestAListOfWhatIsMissingThatIsNotTrueIsFound(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"README.md": "# X\n\n## Not there\n\nMissing:\n\n- the widget (but for\n  its page), the moon;\n- a boat.\n\n| What | Answers |\n|---|---|\n| `GET /x` | 404 |\n\n## Next\n\n- no item\n",
		"Makefile":  "deploy:\n\ttrue\n", "functions/getwidget/a.go": "package getwidget\n",
	})
	functions := []template.Function{{Folder: "getx", Routes: []template.Route{{Method: "GET", Path: "/x"}}}}
	finds(t, policy.Missing(tree, functions, policy.Gaps{Document: "README.md", Heading: "Not there", Claims: []policy.Claim{
		{"the widget", `functions/\w*widget`}, {"its page), the moon", "moon"}, {"`GET /x`", "^GET /x$"}, {"deploying", "make deploy"},
	}}),
		`README.md: "`+"`GET /x`"+`" is called missing, but there is GET /x`,
		`README.md: "deploying" is called missing, but there is make deploy`,
		`README.md: "the widget" is called missing, but there is functions/getwidget`,
		`README.md: does not say any more that there is no "deploying"`,
		`README.md: nothing checks that this is missing: a boat.`,
	)
	finds(t, policy.Missing(tree, nil, policy.Gaps{Document: "README.md", Heading: "Gone"}), `README.md: there is no list under "Gone"`)
}
