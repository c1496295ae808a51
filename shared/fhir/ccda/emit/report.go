package emit

import "slices"

// DocumentReport is the part of one document.
type DocumentReport struct {
	Source    string          `json:"source"`             // meta.source of its resources
	Code      string          `json:"code,omitempty"`     // LOINC code of its type
	Resources map[string]int  `json:"resources"`          // by type, before documents are merged
	Sections  []SectionReport `json:"sections,omitempty"` // in order
	Templates map[string]int  `json:"templates"`          // entry templates that a rule took, by root
	Unknown   map[string]int  `json:"unknown,omitempty"`  // entry templates without a rule, by root; taken as generic facts
	Dropped   []Dropped       `json:"dropped,omitempty"`
}

// IsCut reports whether parts of the document were left out because it would have become too much.
func (r DocumentReport) IsCut() bool {
	return slices.ContainsFunc(r.Dropped, func(d Dropped) bool { return d.Reason == overBudget })
}

// SectionReport counts what a section had.
type SectionReport struct {
	Code    string `json:"code,omitempty"` // LOINC
	Rule    string `json:"rule,omitempty"` // name of the rule that took it; empty when none did
	Entries int    `json:"entries"`        // 0 when it is narrative only
}

// Dropped counts parts of a document that left no trace, and says why.
type Dropped struct {
	What   string `json:"what"` // an element's name, or a template
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}
