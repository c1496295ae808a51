package emit

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// The budget limits a document's output relative to its size. A document can refer to one long text, name or code
// thousands of times, and FHIR repeats it for each reference. In practice, converted documents are at most three times
// as large as their source (docs/reference/ccda.md, "Budget").
const (
	outputPerByte = 8
	outputAtLeast = 256 << 10
)

// overBudget is the reason reported for parts omitted because their document exceeds its budget.
const overBudget = "more than a document of its size may become"

// RelationSize is the size in bytes of a reference between two statements, including the extension that some references
// need.
const RelationSize = 200

// budget counts the bytes of JSON in a document's output. Statements may use three quarters of the budget. Sections may
// use up to fifteen sixteenths of the budget, because people read their narrative. The rest of the budget is reserved
// for references added to resources later.
type budget struct {
	total  int
	made   int
	isFull bool // whether the statement budget is exhausted
}

func budgetOf(document int) budget { return budget{total: outputPerByte*document + outputAtLeast} }

// forStatements and forSections return the maximum output size at which a statement or section may still be added.
func (b *budget) forStatements() int { return b.total / 4 * 3 }

func (b *budget) forSections() int { return b.total / 16 * 15 }

// allows adds the given number of bytes for statements if they fit in the budget. Once it has rejected a request, it
// rejects all subsequent ones.
func (b *budget) allows(bytes int) bool {
	b.isFull = b.isFull || b.made+bytes > b.forStatements()
	if !b.isFull {
		b.made += bytes
	}
	return !b.isFull
}

// allowsSection adds the given number of bytes for the header or a section if they fit in the budget.
func (b *budget) allowsSection(bytes int) bool {
	if b.made+bytes > b.forSections() {
		return false
	}
	b.made += bytes
	return true
}

// Affords charges the given number of bytes to the statement budget and reports whether they fit. A part that doesn't
// fit in the budget is counted as dropped.
func (e *spending) Affords(what string, bytes int) bool {
	if e.budget.allows(bytes) {
		return true
	}
	e.drops.Drop(what, overBudget)
	return false
}

// AffordsResource is like Affords, but charges for a resource and for all references to it, which its section, the
// document's Provenance and a plan may contain.
func (e *spending) AffordsResource(r r4.Resource) bool {
	head := r.Base()
	bytes := 0
	if !e.budget.isFull {
		bytes = r4.Size(r, e.budget.forStatements()) + 3*ReferenceSize(head.Reference())
	}
	return e.Affords(head.ResourceType, bytes)
}

// AffordsSection charges the header or a section to the budget and reports whether it fits. The size does not include
// nested parts.
func (e *spending) AffordsSection(what string, part any) bool {
	if e.budget.allowsSection(r4.Size(part, e.budget.total)) {
		return true
	}
	e.drops.Drop(what, overBudget)
	return false
}

// ReferenceSize returns the size of a reference in a list, in bytes.
func ReferenceSize(r *r4.Reference) int { return r4.Size(r, 1<<10) + len(",") }

// LeftOut returns a placeholder for a reference to a resource that was omitted because the budget was exhausted.
func LeftOut() *r4.Reference { return &r4.Reference{Display: "Left out: the document is too large"} }

// NotStated returns a placeholder for a reference to a resource that would assert more than its statement.
func NotStated() *r4.Reference { return &r4.Reference{Display: "Not stated by the document"} }

// After calls do after all statements have been converted to resources. It does nothing if the resource that ref points
// to was omitted.
func (e *schedule) After(ref *r4.Reference, n *cda.Node, do func(n *cda.Node)) {
	if r4.IsKept(ref) {
		e.Afterwards(n, do)
	}
}

// MarkCut tags resources as SUBSETTED if any part of the document was dropped (FHIR R4, resource.html#tag-def).
func (e *tally) MarkCut(resources ...r4.Resource) {
	if !e.report.IsCut() {
		return
	}
	for _, r := range resources {
		r.Base().Tag(r4.Coding{
			System: "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", Code: "SUBSETTED",
			Display: "subsetted",
		})
	}
}
