package statement

import "recordbridge/shared/fhir/ccda/cda"

// RuleSet holds the rules of one section package.
type RuleSet struct {
	Folder   string // of the package, below this one's parent
	Sections []Section
	Entries  []Entry
}

// Entry is the rule of one entry template.
type Entry struct {
	// Roots are the OIDs of the template, of any version: first that of C-CDA R2.1, then those of C32, IHE and CCD.
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
	// Shared are templates of older guides that several sections use for different things. In this section, entries with
	// them are what Assume states.
	Shared []string
	// Narrative converts the section itself besides its entries, such as to a DocumentReference of a note. It is nil for
	// most.
	Narrative func(*Context, *cda.Node)
}

// Assumption is the template of entries that name none, by their element. An empty Mood stands for all moods.
type Assumption struct{ Element, Mood, Root string }
