// Package statement holds the parts that all sections share: the context in which a clinical statement is converted,
// the form of a section's rules, and the relations of statements to each other, to their authors and to their comments.
package statement

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
)

// Context is given to every rule. Rules read its fields and never assign them: the first group holds for the whole
// document, the second for the section being read, which package body enters and leaves.
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
	InSection *cda.Node       // the section
	Open      r4.ReferenceSet // resources of the section so far

	authorships authorships
}

// Rules converts a statement inside another one, whichever section its rule belongs to.
type Rules interface {
	// ConvertBy converts a statement by the rule of a template, which the statement need not have, and reports whether
	// there is such a rule.
	ConvertBy(root string, n *cda.Node) bool
	// Member converts a statement in an organizer by its own template, or as the section assumes, and returns a
	// reference to its resource; nil if it has none.
	Member(n *cda.Node, section *Section) *r4.Reference
}

// Problems converts problem observations outside the problem list, such as the diagnoses of an encounter.
type Problems interface {
	// Is distinguishes a problem from a status or note beside it.
	Is(n *cda.Node) bool
	// Convert makes a Condition of a problem. act is the concern around it, or nil.
	Convert(n, act *cda.Node) *r4.Reference
	// ConvertAct makes Conditions of the problems in an act.
	ConvertAct(act *cda.Node) []r4.Reference
}

// NewContext returns the context of a document about a patient, without rules.
func NewContext(d *cda.Document, patient *r4.Reference, to *emit.Emitter) *Context {
	read := datatype.NewReader(d, to)
	return &Context{Document: d, Patient: patient, Read: read, Make: entity.NewMaker(d, patient, read, to), Emit: to}
}

// Named runs do as if the section had the name of another rule.
func (c *Context) Named(rule string, do func()) {
	within := c.Within
	c.Within = rule
	do()
	c.Within = within
}
