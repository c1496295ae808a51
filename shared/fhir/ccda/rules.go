package ccda

import (
	"cmp"
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/section/allergies"
	"recordbridge/shared/fhir/ccda/section/careteams"
	"recordbridge/shared/fhir/ccda/section/concerns"
	"recordbridge/shared/fhir/ccda/section/directives"
	"recordbridge/shared/fhir/ccda/section/encounters"
	"recordbridge/shared/fhir/ccda/section/equipment"
	"recordbridge/shared/fhir/ccda/section/family"
	"recordbridge/shared/fhir/ccda/section/functional"
	"recordbridge/shared/fhir/ccda/section/goals"
	"recordbridge/shared/fhir/ccda/section/imaging"
	"recordbridge/shared/fhir/ccda/section/immunizations"
	"recordbridge/shared/fhir/ccda/section/medications"
	"recordbridge/shared/fhir/ccda/section/notes"
	"recordbridge/shared/fhir/ccda/section/payers"
	"recordbridge/shared/fhir/ccda/section/plans"
	"recordbridge/shared/fhir/ccda/section/problems"
	"recordbridge/shared/fhir/ccda/section/procedures"
	"recordbridge/shared/fhir/ccda/section/results"
	"recordbridge/shared/fhir/ccda/section/social"
	"recordbridge/shared/fhir/ccda/section/vitals"
	"recordbridge/shared/fhir/ccda/statement"
)

// ruleSets returns the rules of all section packages for one document. Some sets of rules keep state about the
// document.
func ruleSets() []statement.RuleSet {
	return []statement.RuleSet{
		problems.Rules(),
		allergies.Rules(),
		medications.Rules(),
		plans.Rules(),
		goals.Rules(),
		concerns.Rules(),
		careteams.Rules(),
		payers.Rules(),
		directives.Rules(),
		family.Rules(),
		imaging.Rules(),
		notes.Rules(),
		vitals.Rules(),
		results.Rules(),
		social.Rules(),
		immunizations.Rules(),
		procedures.Rules(),
		encounters.Rules(),
		functional.Rules(),
		equipment.Rules(),
	}
}

// asks returns a function that reports whether an observation with a nullFlavor is an unanswered question, which FHIR
// represents as an Observation with a dataAbsentReason (C-CDA on FHIR, "Mapping Guidance": missing data). Such an
// observation is a question if its template maps to an Observation, or if it has a code but no known template. Any
// other observation with a nullFlavor states no fact.
func asks() func(n *cda.Node) bool {
	var isQuestion map[string]bool // keyed by template; nil until needed, because null statements are rare
	return func(n *cda.Node) bool {
		if mood := n.Attr("moodCode"); n.Name != "observation" || mood != "" && mood != "EVN" {
			return false
		}
		if isQuestion == nil {
			isQuestion = map[string]bool{}
			for _, t := range Templates() {
				isQuestion[t.Root] = strings.HasPrefix(t.Target, "Observation")
			}
		}
		for t := range n.Each("templateId") {
			if is, known := isQuestion[t.Attr("root")]; known {
				return is
			}
		}
		return cda.IsOneOf(n.Parent.Name, "entry", "component") &&
			!cda.IsOneOf(cda.CodeOf(n.At("code")), "", "ASSERTION")
	}
}

// Template documents the rule for an entry or section template.
type Template struct {
	Root   string // OID of the template, without the version
	Name   string // template's name in C-CDA
	Target string // type of the resulting resource
	Folder string // folder of the rule's package, relative to this package
}

// Templates returns the templates of all rules, ordered by OID.
func Templates() []Template {
	var list []Template
	for _, of := range ruleSets() {
		for _, rule := range of.Entries {
			for _, root := range rule.Roots {
				list = append(list, Template{Root: root, Name: rule.Name, Target: rule.Target, Folder: of.Folder})
			}
		}
		for _, rule := range of.Sections {
			for _, root := range rule.Roots {
				list = append(list, Template{
					Root: root, Name: rule.Name, Target: "Composition.section", Folder: of.Folder,
				})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Template) int { return cmp.Compare(a.Root, b.Root) })
	return list
}
