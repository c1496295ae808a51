// Package policy holds the house rules as functions: each reads one input (the tree, the list of packages, the
// template) and returns what breaks the rule, so that a test can also show the rule failing on a bad example. The
// tests of this package run every rule over the repository (architecture section 8, style.md section 7).
//
// It judges only what stands in the repository. What AWS refuses is the template package's business, what a linter
// can see is .golangci.yml's, and behaviour is the other tests'.
package policy

import (
	"cmp"
	"fmt"
	"slices"
)

// module is the path that every package of the repository starts with.
const module = "recordbridge/"

// Finding is one breach of a rule.
type Finding struct {
	Where string // a path, path:line, import path, or logical id of the template
	What  string
}

// String gives the line that a test prints.
func (f Finding) String() string { return f.Where + ": " + f.What }

// findings collects breaches.
type findings []Finding

// addf adds one.
func (f *findings) addf(where, format string, args ...any) {
	*f = append(*f, Finding{where, fmt.Sprintf(format, args...)})
}

// sorted gives them in the order of their text, each once, so that a run's output does not depend on map order.
func (f *findings) sorted() []Finding {
	slices.SortFunc(*f, func(a, b Finding) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(*f)
}
