package problems

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Elsewhere converts problems that are stated in other sections. It implements statement.Problems.
type Elsewhere struct{ c *statement.Context }

// New returns an Elsewhere for a document.
func New(c *statement.Context) Elsewhere { return Elsewhere{c} }

// Is reports whether an observation is a problem rather than a problem's status or note.
func (e Elsewhere) Is(n *cda.Node) bool { return isProblem(n) }

// Convert creates a Condition for a problem. act is the enclosing concern, or nil.
func (e Elsewhere) Convert(n, act *cda.Node) *r4.Reference { return problem(e.c, n, act) }

// ConvertAct creates Conditions for all problems in an act.
func (e Elsewhere) ConvertAct(act *cda.Node) []r4.Reference { return problemAct(e.c, act) }
