package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

const strict = `
issues: {max-issues-per-linter: 0, max-same-issues: 0, uniq-by-line: false}
linters:
  enable: [govet, unused]
  settings:
    nolintlint: {require-explanation: true, require-specific: true, allow-unused: false}
  exclusions:
    rules:
      - {path: infra/, linters: [unused]}
formatters:
  enable: [gci]
`

func TestALoosenedLinterIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		part, replacement string
		want              []string
	}{
		"strict":    {"govet", "govet", nil},
		"removed":   {"govet, ", "", []string{".golangci.yml: govet is not enabled"}},
		"disabled":  {"  settings:", "  disable: [gci]\n  settings:", []string{".golangci.yml: gci is not enabled"}},
		"hidden":    {"uniq-by-line: false", "uniq-by-line: true", []string{".golangci.yml: issues are hidden: max-issues-per-linter and max-same-issues are 0, uniq-by-line is false"}},
		"silent":    {"require-explanation: true", "require-explanation: false", []string{".golangci.yml: nolintlint asks for an explanation and a linter's name, and allows no unused nolint"}},
		"excepted":  {"infra/", "shared/", []string{".golangci.yml: unused is not checked in shared/"}},
		"path":      {"    rules:", "    paths: [shared/]\n    rules:", []string{".golangci.yml: the path shared/ is excluded from every linter"}},
		"formatter": {"[gci]", "[]", []string{".golangci.yml: gci is not enabled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files(t, map[string]string{".golangci.yml": without(t, strict, c.part, c.replacement)})
			finds(t, policy.Linters(tree, []string{"govet", "unused", "gci"}, map[string][]string{"infra/": {"unused"}}), c.want...)
		})
	}
}

func TestAConfigurationThatIsNotYAMLIsAFinding(t *testing.T) {
	t.Parallel()
	if got := policy.Linters(files(t, map[string]string{".golangci.yml": "linters: ["}), nil, nil); len(got) != 1 {
		t.Errorf("got %v, want one finding", got)
	}
}
