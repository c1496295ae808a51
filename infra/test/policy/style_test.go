package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestLongFilesAreFound(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return "package x\n" + strings.Repeat("\n", n-1) }
	finds(t, policy.FileLengths(files(t, map[string]string{
		"a/fits.go": lines(400), "a/long.go": lines(401), "a/long_test.go": lines(401), "ui/long.tsx": strings.Repeat("x\n", 400) + "x",
		"infra/local/new/long.go": lines(401), ".ci/long.py": lines(401),
		"template.yaml": strings.Repeat("\n", 900), "docs/openapi.yaml": strings.Repeat("\n", 900), "README.md": strings.Repeat("\n", 900),
		"functions/a/bootstrap/main.go": lines(41), "functions/b/bootstrap/main.go": lines(40),
	})),
		".ci/long.py: 401 lines, more than 400",
		"a/long.go: 401 lines, more than 400",
		"a/long_test.go: 401 lines, more than 400",
		"functions/a/bootstrap/main.go: 41 lines, more than 40",
		"infra/local/new/long.go: 401 lines, more than 400",
		"ui/long.tsx: 401 lines, more than 400",
	)
}

func TestLongFunctionsAreFound(t *testing.T) {
	t.Parallel()
	function := func(lines int) string {
		return fmt.Sprintf("package x\n\n// f has a comment that does not count.\nfunc f() {%s}\n", strings.Repeat("\n", lines-1))
	}
	finds(t, policy.FunctionLengths(files(t, map[string]string{
		"a/fits.go": function(59), "a/long.go": function(60), "a/long_test.go": function(60),
	})), "a/long.go:4: f has 60 lines, more than 59")
}

func TestAPackageHasOneCommentOfTwoLines(t *testing.T) {
	t.Parallel()
	const two, one = "// Package x owns y\n// and not z.\npackage x\n", "// Package x owns y.\npackage x\n"
	finds(t, policy.PackageComments(files(t, map[string]string{
		"good/a.go": two, "good/b.go": "package x\n", "good/c_test.go": one,
		"command/main.go": "// Command x does y.\npackage main\n",
		"short/a.go":      one, "none/a.go": "package x\n", "twice/a.go": two, "twice/b.go": two,
		"tests/a_test.go": "package x_test\n", "quiet/main.go": "package main\n",
	})),
		"none: 0 package comments, not one",
		"quiet: 0 package comments, not one",
		"short: a package comment of one line",
		"tests: 0 package comments, not one",
		"twice: 2 package comments, not one",
	)
}

func TestSleepingTestsAreFound(t *testing.T) {
	t.Parallel()
	const sleeps = "package x\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n"
	finds(t, policy.NoSleep(files(t, map[string]string{
		"a/a_test.go": sleeps, "a/a.go": sleeps, "a/b_test.go": "package x\n\nfunc g(bed interface{ Sleep() }) { bed.Sleep() }\n",
	})), "a/a_test.go:5: a test sleeps")
}

func TestUnfinishedWorkIsFound(t *testing.T) {
	t.Parallel()
	mark := "TO" + "DO"
	finds(t, policy.NoMarkers(files(t, map[string]string{
		"a/a.go": "package x\n\n// " + mark + ": later.\nvar x = 1\n", "a/b.go": "package x\n\nvar s = \"" + mark + "\"\n",
		"a/c.css": "/* " + mark + " */", "CONTRIBUTING.md": "Leave no " + mark, "a/d.js": "let " + mark + "S = 1",
	})), "a/a.go:3: unfinished work: "+mark, "a/c.css: unfinished work: "+mark)
}

func TestExportsWithoutAUserAreFound(t *testing.T) {
	t.Parallel()
	const owner = `package x

type Used struct{ Field int }
type Alone struct{}
type OfItself []OfItself
const Lonely = 1
const Inner = 2
var Shared = Inner
var Private = 3
func Called(u Used) {}
func Uncalled() { Called(Used{}) ; _ = Private }
func Tested() {}
func (Used) Method() {}
func private() {}
`
	finds(t, policy.UnusedExports(files(t, map[string]string{
		"shared/x/x.go":      owner,
		"shared/x/x_test.go": "package x_test\n\nimport \"recordbridge/shared/x\"\n\nvar _ = x.Lonely\n",
		"functions/f/f.go":   "package f\n\nimport other \"recordbridge/shared/x\"\n\nfunc f() { other.Called(other.Used{}); _ = other.Shared }\n",
		"functions/f/g.go":   "package f\n\nfunc Unused() {}\n",
		"infra/i_test.go":    "package infra_test\n\nimport \"recordbridge/shared/x\"\n\nvar _ = x.Tested\n",

		"infra/local/y/y.go":       "package y\n\nfunc ForTests() {}\nfunc ForItself() {}\nfunc Excused() {}\nfunc help() { ForItself() }\nvar Own = 1\n",
		"infra/local/y/y_test.go":  "package y_test\n\nimport \"recordbridge/infra/local/y\"\n\nvar _ = y.Own\n",
		"infra/test/e2e/e_test.go": "package e2e_test\n\nimport \"recordbridge/infra/local/y\"\n\nvar _ = y.ForTests\n",
		"infra/test/policy/p.go":   "package policy\n\nfunc Rule() {}\n",
	}), map[string]string{"infra/local/y.Excused": "a reason"}),
		"infra/local/y/y.go:4: ForItself is exported, but only its own package uses it",
		"infra/local/y/y.go:7: nothing but its own tests uses Own",
		"shared/x/x.go:11: nothing but tests uses Uncalled",
		"shared/x/x.go:12: nothing but tests uses Tested",
		"shared/x/x.go:4: nothing but tests uses Alone",
		"shared/x/x.go:6: nothing but tests uses Lonely",
		"shared/x/x.go:9: Private is exported, but only its own package uses it",
	)
}
