package statement

import "recordbridge/shared/fhir/ccda/cda"

// Entry turns the statements of one entry template into resources.
type Entry struct {
	Roots   []string // OIDs of the template, of any version; the first is that of C-CDA R2.1, others are of C32, IHE and CCD
	Name    string
	Target  string // resource types, for the documentation
	Convert func(*Context, *cda.Node)
}

// Section says what a section is and how entries in it are taken that have no template that is known.
type Section struct {
	Codes  []string // LOINC
	Roots  []string // OIDs of the template
	Name   string
	Titles []string // as senders without codes write them, in lower case
	Assume []Assumption
	// shared are templates of older guides that several sections use for different things: here they are what is assumed.
	Shared []string
	// narrative makes something of a section besides its entries, such as a DocumentReference of a note; nil for most.
	Narrative func(*Context, *cda.Node)
}

// Assumption is the template of entries without one, by the name of the element. Mood is empty when it is all the same.
type Assumption struct{ Element, Mood, Root string }
