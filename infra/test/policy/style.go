package policy

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The sizes that a reader can still take in.
const (
	maxFileLines      = 400
	maxFunctionLines  = 59
	maxBootstrapLines = 40
)

// FileLengths finds sources that are too long. The template is one list of resources and documents are prose or one
// specification, so both may be as long as they need; a bootstrap is held to its few lines.
func FileLengths(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		limit := maxFileLines
		switch {
		case f.Path == "template.yaml", !isCode(f.Path), strings.HasPrefix(f.Path, "docs/"):
			continue
		case isBootstrap(f.Path):
			limit = maxBootstrapLines
		}
		if n := f.lines(); n > limit {
			found.addf(f.Path, "%d lines, more than %d", n, limit)
		}
	}
	return found.sorted()
}

// isBootstrap tells whether a file is the command of a Lambda function.
func isBootstrap(name string) bool {
	matches, err := path.Match("functions/*/bootstrap/main.go", name)
	return err == nil && matches
}

// FunctionLengths finds functions outside tests that are too long.
func FunctionLengths(t *Tree) []Finding {
	var found findings
	for _, f := range t.production() {
		for _, d := range f.Go.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.line(function.End()) - t.line(function.Pos()) + 1; n > maxFunctionLines {
				found.addf(t.where(function.Pos()), "%s has %d lines, more than %d", function.Name.Name, n, maxFunctionLines)
			}
		}
	}
	return found.sorted()
}

// PackageComments finds packages that do not say in exactly one comment of two lines or more what they own; one line
// is enough for a command. A folder of tests only is a package like any other.
func PackageComments(t *Tree) []Finding {
	var found findings
	for folder, files := range t.folders() {
		if slices.ContainsFunc(files, func(f File) bool { return !f.isTest() }) {
			files = slices.DeleteFunc(files, File.isTest)
		}
		var comments []string
		for _, f := range files {
			if f.Go.Doc != nil {
				comments = append(comments, strings.TrimSpace(f.Go.Doc.Text()))
			}
		}
		command := files[0].Go.Name.Name == "main"
		switch {
		case len(comments) != 1:
			found.addf(folder, "%d package comments, not one", len(comments))
		case !command && !strings.Contains(comments[0], "\n"):
			found.addf(folder, "a package comment of one line")
		}
	}
	return found.sorted()
}

// NoSleep finds tests that sleep: under a real clock they are slow and still too early on a busy machine. Time passes in
// testing/synctest, by waiting for what one waits for.
func NoSleep(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		if f.Go == nil || !strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		ast.Inspect(f.Go, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Sleep" {
				if owner, named := call.X.(*ast.Ident); named && owner.Name == "time" {
					found.addf(t.where(call.Pos()), "a test sleeps")
				}
			}
			return true
		})
	}
	return found.sorted()
}

// unfinished is how people mark what they mean to do later.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

// NoMarkers finds unfinished work left in the code: in the comments of Go files, and anywhere in other sources.
func NoMarkers(t *Tree) []Finding {
	var found findings
	for _, f := range t.Files {
		switch {
		case f.Go != nil:
			for _, group := range f.Go.Comments {
				if mark := unfinished.FindString(group.Text()); mark != "" {
					found.addf(t.where(group.Pos()), "unfinished work: %s", mark)
				}
			}
		case isCode(f.Path):
			if mark := unfinished.Find(f.Text); mark != nil {
				found.addf(f.Path, "unfinished work: %s", mark)
			}
		}
	}
	return found.sorted()
}
