// Package statement provides the sections' common code: the context for converting a clinical statement, the structure
// of section rules, and access to a statement's authors, comments and relations.
package statement

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/entity"
	"recordbridge/shared/fhir/ccda/r4"
)

// Context is passed to every rule. Rules must not assign to the Context's fields. The first group of fields applies to
// the entire document. The second group of fields, set by package body, applies to the current section.
type Context struct {
	Document  *cda.Document
	Patient   *r4.Reference
	Encounter *r4.Reference // encompassingEncounter, set by package header; may be nil
	Read      *datatype.Reader
	Make      *entity.Maker
	Emit      *emit.Emitter
	Rules     Rules
	Problems  Problems

	Within    string          // name of the section's rule, if any
	InSection *cda.Node       // the section's element
	Open      r4.ReferenceSet // resources created in the section so far

	authorships authorships
}

// Rules converts nested statements regardless of the section to which their rules belong.
type Rules interface {
	// ConvertBy converts a statement by a template's rule, even if it doesn't have that template. It reports whether a
	// rule exists for the template.
	ConvertBy(root string, n *cda.Node) bool
	// Member converts a statement in an organizer using the rule of its own template or of the one that the section
	// assumes. It returns a reference to the statement's resource, or nil if no resource was created.
	Member(n *cda.Node, section *Section) *r4.Reference
}

// Problems converts problem observations outside the problem list, such as an encounter's diagnoses.
type Problems interface {
	// Is reports whether an observation is a problem rather than a problem's status or note.
	Is(n *cda.Node) bool
	// Convert creates a Condition for a problem. act is the enclosing concern, or nil.
	Convert(n, act *cda.Node) *r4.Reference
	// ConvertAct creates Conditions for all problems in an act.
	ConvertAct(act *cda.Node) []r4.Reference
}

// NewContext returns a context without rules for a document about the given patient.
func NewContext(d *cda.Document, patient *r4.Reference, to *emit.Emitter) *Context {
	read := datatype.NewReader(d, to)
	return &Context{Document: d, Patient: patient, Read: read, Make: entity.NewMaker(d, patient, read, to), Emit: to}
}

// Named calls do with rule as the section's rule name.
func (c *Context) Named(rule string, do func()) {
	within := c.Within
	c.Within = rule
	do()
	c.Within = within
}
