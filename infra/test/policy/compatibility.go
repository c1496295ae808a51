package policy

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// compatibility is the document whose table rows name the tests that verify them.
const compatibility = "docs/reference/compatibility.md"

// titled matches a TypeScript test's title.
var titled = regexp.MustCompile(`(?m)^\s*(?:test|it)\("((?:[^"\\]|\\.)+)"`)

// Compatibility reports rows in docs/reference/compatibility.md whose last cell does not name an existing test.
func Compatibility(t *Tree) []Finding {
	var found findings
	tests := testNames(t)
	for line := range strings.Lines(string(t.Text(compatibility))) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		if len(cells) < 2 || strings.HasPrefix(last, "--") || last == "Test" {
			continue
		}
		names := codeSpan.FindAllString(last, -1)
		if len(names) == 0 {
			found.addf(compatibility, "the row of %s names no test", strings.TrimSpace(cells[0]))
		}
		for _, name := range names {
			if name = strings.Trim(name, "`"); !tests[name] {
				found.addf(compatibility, "there is no test %s", name)
			}
		}
	}
	return found.sorted()
}

// testNames returns the names of Go tests and the titles of TypeScript tests.
func testNames(t *Tree) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.Files {
		if f.Go != nil && f.isTest() {
			for _, d := range f.Go.Decls {
				if function, ok := d.(*ast.FuncDecl); ok && function.Recv == nil {
					names[function.Name.Name] = true
				}
			}
		}
		if base := path.Base(f.Path); strings.Contains(base, ".test.ts") || strings.HasSuffix(base, ".spec.ts") {
			for _, m := range titled.FindAllSubmatch(f.Text, -1) {
				names[string(m[1])] = true
			}
		}
	}
	return names
}
