// Package notes converts the section Notes (2.16.840.1.113883.10.20.22.2.65) and all other narrative sections to
// DocumentReferences.
//
// See C-CDA on FHIR: hl7.org/fhir/us/ccda/CF-notes.html.
package notes

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{
		Folder: "section/notes", Sections: sections(), Entries: append(entries(), relationEntries()...),
	}
}

func sections() []statement.Section {
	var rules []statement.Section
	for _, list := range [][]narrativeSection{noteKinds(), historyKinds(), hospitalKinds(), operationKinds()} {
		for _, s := range list {
			rules = append(rules, statement.Section{
				Codes: s.codes, Roots: s.roots, Name: s.name, Titles: s.titles, Narrative: docref.OfWords,
				Assume: []statement.Assumption{{Element: "act", Mood: "EVN", Root: statement.NoteActivityRoot}},
			})
		}
	}
	return rules
}

func entries() []statement.Entry {
	return []statement.Entry{{
		Roots: []string{statement.NoteActivityRoot}, Name: "Note Activity", Target: "DocumentReference",
		Convert: noteActivity,
	}}
}

// relationEntries returns the rules for statements that only refer to other statements.
func relationEntries() []statement.Entry {
	return []statement.Entry{
		{
			Roots: []string{statement.EntryReference}, Name: "Entry Reference",
			Target:  "reference in the enclosing statement's resource",
			Convert: func(*statement.Context, *cda.Node) {}, // The function related resolves this reference.
		},
		{
			Roots: []string{statement.ExternalDocumentReference}, Name: "External Document Reference",
			Target:  "DocumentReference",
			Convert: docref.ExternalAct,
		},
	}
}
