package policy

import (
	"fmt"
	"regexp"

	"recordbridge/infra/prose"
)

// alwaysWrong lists banned patterns and the wording to use instead (CONTRIBUTING.md, "Reading check"). Text that
// matches none of the patterns is not necessarily good English.
var alwaysWrong = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{
		regexp.MustCompile(`^\w+ (?:is|are) (?:what|whatever|who|whom|whose|whoever|how|where|when|those)\b`),
		"say what it does or holds",
	},
	{regexp.MustCompile(`(?i)\banother than\b`), "different from"},
	{regexp.MustCompile(`(?i)\bof (?:ours|its own kind)\b`), "our"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were) told\b`), "reports, states, receives"},
	{regexp.MustCompile(`(?i)\bthat (?:is|are) none\b`), "is not a"},
	{regexp.MustCompile(`(?i)\b(?:is|are) had\b`), "an active verb"},
}

// testWords matches test names containing words that name no unit, behaviour or condition.
var testWords = regexp.MustCompile(
	`^(?:Test|Benchmark|Fuzz)(?:(?:An?|The|Who|What|Whoever|Whatever|Nobody|Everybody|Somebody)[A-Z][a-z]` +
		`|\w*(?:Ours|Somebody|Nobody))`,
)

// Words reports sentences in documents, comments and strings that match a pattern in alwaysWrong, and test names that
// match testWords.
func Words(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		for _, s := range prose.Of(f.Path, string(f.Text)) {
			where := fmt.Sprintf("%s:%d", s.Path, s.First)
			if s.Group == prose.Test {
				if testWords.MatchString(s.Text) {
					found.addf(where, "%s: want Test<Unit><Behaviour>When<Condition>", s.Text)
				}
				continue
			}
			for _, wrong := range alwaysWrong {
				if m := wrong.pattern.FindString(s.Text); m != "" {
					found.addf(where, "%q: %s", m, wrong.instead)
				}
			}
		}
	}
	return found.sorted()
}
