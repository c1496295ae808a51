// Package statement holds the parts that all sections share: the context for converting a clinical statement, the
// structure of a section's rules, and the relations of statements to each other, to their authors and to their
// comments.
package statement

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
)

// Context is passed to every rule. Rules read its fields and never assign them: the first group applies to the complete
// document, the second to the section being read, which package body enters and leaves.
type Context struct {
	Document  *cda.Document
	Patient   *r4.Reference
	Encounter *r4.Reference // encompassingEncounter, set by the header; nil if there is none
	Read      *datatype.Reader
	Make      *entity.Maker
	Emit      *emit.Emitter
	Rules     Rules
	Problems  Problems

	Within    string          // name of the section's rule; empty if it has none
	InSection *cda.Node       // element of the section
	Open      r4.ReferenceSet // resources of the section so far

	authorships authorships
}

// Rules converts a statement nested in another one, whichever section its rule belongs to.
type Rules interface {
	// ConvertBy converts a statement by the rule of a template, even if the statement does not have the template, and
	// reports whether there is such a rule.
	ConvertBy(root string, n *cda.Node) bool
	// Member converts a statement in an organizer by its own template, or by the section's assumption, and returns a
	// reference to its resource; nil if it has none.
	Member(n *cda.Node, section *Section) *r4.Reference
}

// Problems converts problem observations outside the problem list, such as the diagnoses of an encounter.
type Problems interface {
	// Is reports whether an observation is a problem rather than a status or note beside it.
	Is(n *cda.Node) bool
	// Convert creates a Condition for a problem. act is the enclosing concern, or nil.
	Convert(n, act *cda.Node) *r4.Reference
	// ConvertAct creates Conditions for the problems in an act.
	ConvertAct(act *cda.Node) []r4.Reference
}

// NewContext returns the context of a document about a patient, without rules.
func NewContext(d *cda.Document, patient *r4.Reference, to *emit.Emitter) *Context {
	read := datatype.NewReader(d, to)
	return &Context{Document: d, Patient: patient, Read: read, Make: entity.NewMaker(d, patient, read, to), Emit: to}
}

// Named runs do with the section's name replaced by that of another rule.
func (c *Context) Named(rule string, do func()) {
	within := c.Within
	c.Within = rule
	do()
	c.Within = within
}
