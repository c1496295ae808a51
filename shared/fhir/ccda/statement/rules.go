package statement

import "recordbridge/shared/fhir/ccda/cda"

// RuleSet holds the rules of one section package.
type RuleSet struct {
	Folder   string // folder of the package, below this one's parent
	Sections []Section
	Entries  []Entry
}

// Entry is the rule of one entry template.
type Entry struct {
	// Roots are the OIDs of the template, of any version: that of C-CDA R2.1 first, then those of C32, IHE and CCD.
	Roots   []string
	Name    string
	Target  string // resource types, for the documentation
	Convert func(*Context, *cda.Node)
}

// Section is the rule of one section type. It also states the assumed templates of entries that name none.
type Section struct {
	Codes  []string // LOINC codes
	Roots  []string // template OIDs
	Name   string
	Titles []string // titles used by senders without codes, in lower case
	Assume []Assumption
	// Shared lists templates of older guides that several sections use for different things. In this section, Assume
	// determines the meaning of entries with them.
	Shared []string
	// Narrative converts the section itself in addition to its entries, for example to a note's DocumentReference. It is
	// nil for most sections.
	Narrative func(*Context, *cda.Node)
}

// Assumption is the assumed template of entries that name none, by their element. An empty Mood matches all moods.
type Assumption struct{ Element, Mood, Root string }
