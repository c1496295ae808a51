package statement

import "recordbridge/shared/fhir/ccda/cda"

// Entry is the rule of one entry template.
type Entry struct {
	// OIDs of the template, of any version; the first is that of C-CDA R2.1, others are of C32, IHE and CCD
	Roots   []string
	Name    string
	Target  string // resource types, for the documentation
	Convert func(*Context, *cda.Node)
}

// Section is the rule of one kind of section. It also states which templates its entries have if they name none.
type Section struct {
	Codes  []string // LOINC
	Roots  []string // OIDs of the template
	Name   string
	Titles []string // as senders without codes write them, in lower case
	Assume []Assumption
	// shared are templates of older guides that several sections use for different things: here they are what is
	// assumed.
	Shared []string
	// narrative makes something of a section besides its entries, such as a DocumentReference of a note; nil for most.
	Narrative func(*Context, *cda.Node)
}

// Assumption is the template of entries that name none, by their element. An empty Mood stands for all moods.
type Assumption struct{ Element, Mood, Root string }
