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
