package ccda

import (
	"cmp"
	"slices"
)

// entryRule turns the statements of one entry template into resources.
type entryRule struct {
	roots   []string // OIDs of the template, of any version; the first is that of C-CDA R2.1, others are of C32, IHE and CCD
	name    string
	target  string // resource types, for the documentation
	file    string // where the rule is
	convert func(*converter, *node)
}

// sectionRule says what a section is and how entries in it are taken that have no template that is known.
type sectionRule struct {
	codes  []string // LOINC
	roots  []string // OIDs of the template
	name   string
	titles []string // as senders without codes write them, in lower case
	file   string
	assume []assumption
	// shared are templates of older guides that several sections use for different things: here they are what is assumed.
	shared []string
	// narrative makes something of a section besides its entries, such as a DocumentReference of a note; nil for most.
	narrative func(*converter, *node)
}

// assumption is the template of entries without one, by the name of the element. Mood is empty when it is all the same.
type assumption struct{ element, mood, root string }

// entryRules lists the rules of all files.
func entryRules() []entryRule {
	return slices.Concat(
		problemEntries(),
		allergyEntries(),
		medicationEntries(),
		plannedEntries(),
		interventionEntries(),
		goalEntries(),
		concernEntries(),
		careTeamEntries(),
		coverageEntries(),
		directiveEntries(),
		familyEntries(),
		noteEntries(),
		imagingEntries(),
		relationEntries(),
		vitalEntries(),
		resultEntries(),
		socialEntries(),
		immunizationEntries(),
		procedureEntries(),
		encounterEntries(),
		functionalEntries(),
		equipmentEntries(),
	)
}

// sectionRules lists the sections of all files.
func sectionRules() []sectionRule {
	return slices.Concat(
		problemSections(),
		allergySections(),
		medicationSections(),
		carePlanSections(),
		goalSections(),
		concernSections(),
		careTeamSections(),
		coverageSections(),
		directiveSections(),
		familySections(),
		imagingSections(),
		noteSections(),
		vitalSections(),
		resultSections(),
		socialSections(),
		immunizationSections(),
		procedureSections(),
		encounterSections(),
		functionalSections(),
		equipmentSections(),
	)
}

func ruleIndex() map[string]*entryRule {
	index := map[string]*entryRule{}
	rules := entryRules()
	for i := range rules {
		for _, root := range rules[i].roots {
			index[root] = &rules[i]
		}
	}
	return index
}

// anywhere is what a statement is taken for by its class and mood, where its section does not say.
func anywhere() []assumption {
	return []assumption{
		{"substanceAdministration", "", "2.16.840.1.113883.10.20.22.4.16"},
		{"procedure", "EVN", "2.16.840.1.113883.10.20.22.4.14"},
		{"procedure", "", "2.16.840.1.113883.10.20.22.4.41"},
		{"encounter", "EVN", "2.16.840.1.113883.10.20.22.4.49"},
		{"encounter", "", "2.16.840.1.113883.10.20.22.4.40"},
		{"supply", "EVN", "2.16.840.1.113883.10.20.22.4.18"},
		{"supply", "", "2.16.840.1.113883.10.20.22.4.17"},
		{"observation", "GOL", "2.16.840.1.113883.10.20.22.4.121"},
	}
}

func assumed(list []assumption, n *node) string {
	if n.name == "supply" && n.at("product") == nil && n.at("participant") != nil { // of a device, not of medication
		return "2.16.840.1.113883.10.20.22.4.50"
	}
	if n.name == "procedure" && n.at("value") != nil { // CDA has none there: it is an observation
		return ""
	}
	mood := cmp.Or(n.attr("moodCode"), "EVN")
	for _, a := range list {
		if a.element == n.name && (a.mood == "" || a.mood == mood) {
			return a.root
		}
	}
	return ""
}

// ruleOf gives the rule of a statement: by its templates, else by its section, class and mood; nil when there is none. Its
// templates are counted as taken or unknown.
func (c *converter) ruleOf(n *node, section *sectionRule) *entryRule {
	unknown := ""
	for t := range n.each("templateId") {
		root := t.attr("root")
		if section != nil && isOneOf(root, section.shared...) {
			continue
		}
		if rule := c.rules[root]; rule != nil {
			c.report.Templates[rule.roots[0]]++
			return rule
		}
		unknown = cmp.Or(unknown, root)
	}
	if unknown != "" {
		c.report.Unknown[unknown]++
	}
	if section != nil {
		if rule := c.rules[assumed(section.assume, n)]; rule != nil {
			return rule
		}
	}
	return c.rules[assumed(anywhere(), n)]
}

// convertBy turns a statement into resources by the rule of a template, which it need not have, and reports whether there is one.
func (c *converter) convertBy(root string, n *node) bool {
	rule := c.rules[root]
	if rule != nil {
		rule.convert(c, n)
	}
	return rule != nil
}

// Templates lists all rules of entries and sections in the order of their OIDs.
func Templates() []Template {
	var list []Template
	for _, rule := range entryRules() {
		for _, root := range rule.roots {
			list = append(list, Template{Root: root, Name: rule.name, Target: rule.target, Rule: rule.file})
		}
	}
	for _, rule := range sectionRules() {
		for _, root := range rule.roots {
			list = append(list, Template{Root: root, Name: rule.name, Target: "Composition.section", Rule: rule.file})
		}
	}
	slices.SortStableFunc(list, func(a, b Template) int { return cmp.Compare(a.Root, b.Root) })
	return list
}
