package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestFiguresCheckFindsStaleAndMissingFigures(t *testing.T) {
	t.Parallel()
	const (
		incidents   = "docs/operate/incidents.md"
		scaling     = "docs/operate/scaling.md"
		preparation = "docs/operate/first-deployment.md"
	)
	source := need(t, tree)
	documents := map[string]string{}
	for _, f := range source.Files {
		if strings.HasSuffix(f.Path, ".md") {
			documents[f.Path] = string(f.Text)
		}
	}
	documents[incidents] = without(t, documents[incidents], "the eight function roles", "the four function roles")
	documents[preparation] = without(t, documents[preparation], "356 for `prod`", "352 for `prod`")
	documents[scaling] = without(t, documents[scaling], "| KMS keys and requests |", "| KMS |")
	finds(t, policy.Figures(files(t, documents), need(t, stack), production(t), reservedInProd),
		"docs/operate/first-deployment.md: \"352 for `prod`\": by the template, 356",
		"docs/operate/incidents.md: \"Only the four function roles\": by the template, eight",
		`docs/operate/scaling.md: states no figure like "KMS keys and requests \\| ([\\d.]+)", which is 7.00 by the template`,
	)
}
