package statement

import "recordbridge/shared/fhir/ccda/cda"

// RuleSet holds a section package's rules.
type RuleSet struct {
	Folder   string // the package's folder, relative to this package's parent folder
	Sections []Section
	Entries  []Entry
}

// Entry is the rule for an entry template.
type Entry struct {
	// Roots lists the template's OIDs without versions. Those from C-CDA R2.1 precede those from C32, IHE and CCD.
	Roots   []string
	Name    string
	Target  string // resource types, for documentation
	Convert func(*Context, *cda.Node)
}

// Section is the rule for a section type, with the templates assumed for entries that have no template.
type Section struct {
	Codes  []string // LOINC codes
	Roots  []string // template OIDs
	Name   string
	Titles []string // lower-case titles used by senders that omit the code
	Assume []Assumption
	// Shared lists templates from older guides whose meaning differs between sections. Assume determines the meaning of
	// these templates in the section.
	Shared []string
	// Narrative converts the section itself in addition to its entries, for example to a DocumentReference. Narrative
	// is nil for most sections.
	Narrative func(*Context, *cda.Node)
}

// Assumption is the template assumed for entries without a template, by element and mood. An empty Mood matches every
// mood.
type Assumption struct{ Element, Mood, Root string }
