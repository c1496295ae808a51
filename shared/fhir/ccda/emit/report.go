package emit

import "slices"

// DocumentReport describes the conversion of one document. It contains only numbers, codes and template ids.
type DocumentReport struct {
	Source    string          `json:"source"`             // meta.source of the document's resources
	Code      string          `json:"code,omitempty"`     // LOINC code of the document's type
	Resources map[string]int  `json:"resources"`          // count by type, before documents are merged
	Sections  []SectionReport `json:"sections,omitempty"` // in document order
	Templates map[string]int  `json:"templates"`          // entry templates with a rule, by root
	// entry templates without a rule, by root; their entries become generic facts
	Unknown map[string]int `json:"unknown,omitempty"`
	Dropped []Dropped      `json:"dropped,omitempty"`
}

// IsCut reports whether parts of the document were omitted to stay within the budget.
func (r DocumentReport) IsCut() bool {
	return slices.ContainsFunc(r.Dropped, func(d Dropped) bool { return d.Reason == overBudget })
}

// IsPartial reports whether part of what the document states had no effect on its resources.
func (r DocumentReport) IsPartial() bool {
	return slices.ContainsFunc(r.Dropped, func(d Dropped) bool { return !d.Unstated })
}

// SectionReport counts the entries of a section.
type SectionReport struct {
	Code    string `json:"code,omitempty"` // LOINC code
	Rule    string `json:"rule,omitempty"` // name of the section's rule; empty if there is none
	Entries int    `json:"entries"`        // 0 for a section that has only narrative

	Texts     int `json:"texts,omitempty"`      // texts of the section and its notes that a resource contains
	TextsLost int `json:"texts_lost,omitempty"` // texts that no resource contains
}

// Dropped counts parts of a document that had no effect on the output, with the reason.
type Dropped struct {
	What   string `json:"what"` // an element name or a template
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Unstated marks a part that states no fact: a null statement, part of a negated statement, or a placeholder value.
	Unstated bool `json:"unstated,omitempty"`
}
