package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// selection matches the -run pattern that a command passes to go test, and a -skip pattern anywhere.
	selection = regexp.MustCompile(`(?:go test [^\n` + "`" + `]*?(?:\\\n[^\n]*?)?-run| -skip|'-skip)` +
		` ('[^']*'|[^\s'` + "`" + `]+)`)
	variable  = regexp.MustCompile(`(?m)^([A-Z]+)\s*:?=\s*(.*)$`)
	reference = regexp.MustCompile(`\$\(([A-Z]+)\)`)
)

// Selections reports alternatives in go test's -run and -skip patterns that do not match any test, benchmark or fuzz
// test in the tree. Selections checks scripts, the Makefile and documents. If a -run pattern matches nothing, go test
// passes without running any test.
func Selections(t *Tree) []Finding {
	variables := map[string]string{}
	for _, m := range variable.FindAllStringSubmatch(string(t.Text("Makefile")), -1) {
		variables[m[1]] = m[2]
	}
	names := t.testNames()
	var found findings
	for _, f := range t.Files {
		if f.Go != nil {
			continue
		}
		for _, m := range selection.FindAllStringSubmatch(string(f.Text), -1) {
			pattern := reference.ReplaceAllStringFunc(strings.Trim(m[1], "'"), func(name string) string {
				return variables[strings.Trim(name, "$()")]
			})
			if path.Base(f.Path) == "Makefile" {
				pattern = strings.ReplaceAll(pattern, "$$", "$")
			}
			for part := range strings.SplitSeq(pattern, "|") {
				top, _, _ := strings.Cut(part, "/")
				if top != "^$" && !matchesAny(top, names) {
					found.addf(f.Path, "-run or -skip %s: no test matches %q", pattern, part)
				}
			}
		}
	}
	return found.sorted()
}

// testNames returns the names of every test, benchmark and fuzz test.
func (t *Tree) testNames() []string {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	var names []string
	for _, f := range t.Files {
		if f.isTest() {
			for _, m := range declared.FindAllSubmatch(f.Text, -1) {
				names = append(names, string(m[1]))
			}
		}
	}
	return names
}

// matchesAny reports whether a pattern matches any of the names. An invalid pattern matches nothing.
func matchesAny(pattern string, names []string) bool {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(names, re.MatchString)
}
