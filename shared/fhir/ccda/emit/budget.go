package emit

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// The output of a document is bounded by its size. A document can refer to one long text, name or code thousands of
// times, and each reference is written out in FHIR. Real documents grow to at most three times their size
// (docs/reference/ccda.md, "Budget").
const (
	outputPerByte = 8
	outputAtLeast = 256 << 10
)

// The reasons for omitting parts of a document once its budget is spent.
const overBudget = "more than a document of its size may become"

// RelationSize is the size in bytes of a reference between two statements, with the extension that some need.
const RelationSize = 200

// budget counts the bytes of JSON in the output of a document. Statements may use three quarters of it; sections, whose
// narrative people read, fifteen sixteenths. The rest is for references that are added to resources later.
type budget struct {
	total  int
	made   int
	isFull bool // no further output for statements
}

func budgetOf(document int) budget { return budget{total: outputPerByte*document + outputAtLeast} }

// forStatements and forSections return the size up to which statements and sections may be added.
func (b *budget) forStatements() int { return b.total / 4 * 3 }

func (b *budget) forSections() int { return b.total / 16 * 15 }

// allows adds that many bytes of statements, unless they exceed the budget: from then on nothing more is allowed.
func (b *budget) allows(bytes int) bool {
	b.isFull = b.isFull || b.made+bytes > b.forStatements()
	if !b.isFull {
		b.made += bytes
	}
	return !b.isFull
}

// allowsSection adds that many bytes of the header or of a section.
func (b *budget) allowsSection(bytes int) bool {
	if b.made+bytes > b.forSections() {
		return false
	}
	b.made += bytes
	return true
}

// Affords spends a part of the budget of statements. It reports whether the part fits, and counts it as dropped if not.
func (e *spending) Affords(what string, bytes int) bool {
	if e.budget.allows(bytes) {
		return true
	}
	e.drops.Drop(what, overBudget)
	return false
}

// AffordsResource is Affords for a resource and the references to it: in its section, in the document's Provenance and
// in a plan.
func (e *spending) AffordsResource(r r4.Resource) bool {
	head := r.Base()
	bytes := 0
	if !e.budget.isFull {
		bytes = r4.Size(r, e.budget.forStatements()) + 3*ReferenceSize(head.Reference())
	}
	return e.Affords(head.ResourceType, bytes)
}

// AffordsSection spends a part of the budget of the header and the sections, excluding nested parts.
func (e *spending) AffordsSection(what string, part any) bool {
	if e.budget.allowsSection(r4.Size(part, e.budget.total)) {
		return true
	}
	e.drops.Drop(what, overBudget)
	return false
}

// ReferenceSize returns the size in bytes of a reference in a list.
func ReferenceSize(r *r4.Reference) int { return r4.Size(r, 1<<10) + len(",") }

// LeftOut returns a placeholder for a reference to a resource omitted for lack of budget.
func LeftOut() *r4.Reference { return &r4.Reference{Display: "Left out: the document is too large"} }

// NotStated returns a placeholder for a reference to a resource that would assert more than its statement does.
func NotStated() *r4.Reference { return &r4.Reference{Display: "Not stated by the document"} }

// After runs do once every statement has its resource, unless the resource of the reference was omitted.
func (e *schedule) After(ref *r4.Reference, n *cda.Node, do func(n *cda.Node)) {
	if r4.IsKept(ref) {
		e.Afterwards(n, do)
	}
}

// MarkCut tags resources as SUBSETTED if a part of the document was dropped (FHIR R4, resource.html#tag-def).
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
