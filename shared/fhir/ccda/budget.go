package ccda

import "recordbridge/shared/fhir/ccda/r4"

// What a document may become is bounded by its size. A document can refer to one long text, name or code thousands of times, and
// each reference is written out in FHIR. Real documents become at most three times their size (docs/ccda.md, "Budget").
const (
	outputPerByte = 8
	outputAtLeast = 256 << 10
)

// The reasons for which parts of a document are left out once its budget is spent.
const overBudget = "more than a document of its size may become"

// relationSize is the size in bytes of a reference between two statements, including the extension that some need.
const relationSize = 200

// budget counts the bytes of JSON that a document becomes. Statements may use three quarters of it; sections, whose narrative people
// read, fifteen sixteenths. The rest is for references that are added to resources later.
type budget struct {
	total  int
	made   int
	isFull bool // nothing more is made of statements
}

func budgetOf(document int) budget { return budget{total: outputPerByte*document + outputAtLeast} }

// forStatements and forSections are how much may have been made before either is left out.
func (b *budget) forStatements() int { return b.total / 4 * 3 }
func (b *budget) forSections() int   { return b.total / 16 * 15 }

// allows adds so many bytes of statements, unless that is more than there may be: then nothing is allowed any more.
func (b *budget) allows(bytes int) bool {
	b.isFull = b.isFull || b.made+bytes > b.forStatements()
	if !b.isFull {
		b.made += bytes
	}
	return !b.isFull
}

// allowsSection adds so many bytes of the header or of a section.
func (b *budget) allowsSection(bytes int) bool {
	if b.made+bytes > b.forSections() {
		return false
	}
	b.made += bytes
	return true
}

// affords reports whether something may still be made of statements, adds it, and counts it as dropped if not.
func (c *converter) affords(what string, bytes int) bool {
	if c.budget.allows(bytes) {
		return true
	}
	c.drop(what, overBudget)
	return false
}

// affordsResource is affords for a resource and the references to it: in its section, in the document's Provenance and in a plan.
func (c *converter) affordsResource(r r4.Resource) bool {
	head := r.Base()
	bytes := 0
	if !c.budget.isFull {
		bytes = r4.Size(r, c.budget.forStatements()) + 3*referenceSize(head.Reference())
	}
	return c.affords(head.ResourceType, bytes)
}

// affordsSection is affords for a part of the header or the body, without what is in it.
func (c *converter) affordsSection(what string, part any) bool {
	if c.budget.allowsSection(r4.Size(part, c.budget.total)) {
		return true
	}
	c.drop(what, overBudget)
	return false
}

// repeated gives the words of a part of the narrative that a statement refers to. They stand in the section as well.
func (c *converter) repeated(narrative *node) string {
	if narrative == nil || c.budget.isFull && !c.affords("reference", 0) {
		return ""
	}
	words := narrative.words()
	if words == "" || !c.affords("reference", len(words)) {
		return ""
	}
	return words
}

func referenceSize(r *r4.Reference) int { return r4.Size(r, 1<<10) + len(",") }

// leftOut stands for a resource that the budget had no room for.
func leftOut() *r4.Reference { return &r4.Reference{Display: "Left out: the document is too large"} }

// isKept reports whether a reference leads to a resource.
func isKept(ref *r4.Reference) bool { return ref != nil && ref.Reference != "" }

// after does something to a resource when every statement has its own, unless it has been left out.
func (c *converter) after(ref *r4.Reference, do func()) {
	if isKept(ref) {
		c.later = append(c.later, do)
	}
}

// markCut tags resources as SUBSETTED if part of their document was dropped (FHIR R4, resource.html#tag-def).
func (c *converter) markCut(resources ...r4.Resource) {
	if !c.report.IsCut() {
		return
	}
	for _, r := range resources {
		r.Base().Tag(r4.Coding{System: "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", Code: "SUBSETTED", Display: "subsetted"})
	}
}
