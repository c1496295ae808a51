package emit

import "slices"

// DocumentReport describes the conversion of one document. The report contains only numbers, codes and template ids.
type DocumentReport struct {
	Source    string          `json:"source"`             // meta.source of the document's resources
	Code      string          `json:"code,omitempty"`     // LOINC code of the document's type
	Resources map[string]int  `json:"resources"`          // number of resources by type, before documents are merged
	Sections  []SectionReport `json:"sections,omitempty"` // in document order
	Templates map[string]int  `json:"templates"`          // entry templates with a rule, by root
	// entry templates without a rule, by root; entries that use them become generic facts
	Unknown map[string]int `json:"unknown,omitempty"`
	Dropped []Dropped      `json:"dropped,omitempty"`
}

// IsCut reports whether parts of the document were omitted to stay within the budget.
func (r DocumentReport) IsCut() bool {
	return slices.ContainsFunc(r.Dropped, func(d Dropped) bool { return d.Reason == overBudget })
}

// IsPartial reports whether any stated fact is missing from the resources.
func (r DocumentReport) IsPartial() bool {
	return slices.ContainsFunc(r.Dropped, func(d Dropped) bool { return !d.Unstated })
}

// SectionReport counts a section's entries.
type SectionReport struct {
	Code    string `json:"code,omitempty"` // LOINC code
	Rule    string `json:"rule,omitempty"` // name of the section's rule; empty if no rule applies
	Entries int    `json:"entries"`        // 0 if the section contains only narrative

	Texts     int `json:"texts,omitempty"`      // number of texts in the section and its notes that a resource contains
	TextsLost int `json:"texts_lost,omitempty"` // number of texts that no resource contains
}

// Dropped counts the parts of the document omitted for the same reason.
type Dropped struct {
	What   string `json:"what"` // an element name or a template ID
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Unstated reports whether the part asserts no fact because it is a null statement, part of a negated statement, or
	// a placeholder value.
	Unstated bool `json:"unstated,omitempty"`
}
