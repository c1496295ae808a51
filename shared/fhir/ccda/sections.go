package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const loinc = "http://loinc.org"

// readBody turns the sections of the document into resources, and into sections of the Composition with their narrative.
func (c *converter) readBody() []r4.CompositionSection {
	body := c.document.at("component", "structuredBody")
	if text := c.document.at("component", "nonXMLBody", "text"); text != nil {
		c.addUnstructured(text)
	}
	rules := sectionRules()
	var list []r4.CompositionSection
	for component := range body.each("component") {
		for section := range component.each("section") {
			list = append(list, c.section(section, rules, nil)...)
		}
	}
	return list
}

// section reads one section, its entries and the sections in it, which are taken by the rule around them when they have none. It
// gives none if the budget has no room for it.
func (c *converter) section(n *node, rules []sectionRule, outer *sectionRule) []r4.CompositionSection {
	rule := sectionOf(n, rules)
	if rule == nil {
		rule = outer
	}
	out := r4.CompositionSection{Title: n.at("title").words(), Code: c.concept(n.at("code")), Text: narrativeOf(n.at("text"))}
	if !c.affordsSection("section", complete(out, n)) {
		return nil
	}
	around, within, outside := c.open, c.within, c.inSection
	c.open, c.within, c.inSection = entryList{}, "", n
	report := SectionReport{Code: codeOf(n.at("code"))}
	if rule != nil {
		report.Rule, c.within = rule.name, rule.name
	}
	for entry := range n.each("entry") {
		for statement := range entry.each() {
			if isStatement(statement) {
				report.Entries++
				c.entry(statement, rule)
			}
		}
	}
	switch {
	case rule != nil && rule.narrative != nil:
		rule.narrative(c, n)
	case report.Entries == 0:
		c.noteOfWords(n)
	}
	c.report.Sections = append(c.report.Sections, report)
	for author := range n.each("author") {
		if who := c.party(author).as("Practitioner", "Device", "Organization", "Patient", "RelatedPerson"); who != nil {
			out.Author = appendReference(out.Author, *who)
		}
	}
	if out.Author != nil && !c.affordsSection("author", out.Author) {
		out.Author = nil
	}
	out.Entry = c.open.list
	c.open, c.within, c.inSection = around, within, outside
	for component := range n.each("component") {
		for inner := range component.each("section") {
			out.Section = append(out.Section, c.section(inner, rules, rule)...)
		}
	}
	return []r4.CompositionSection{complete(out, n)}
}

// complete keeps the rules of Composition.section (cmp-1: text, entries or sections; cmp-2: a reason only when it is empty).
func complete(s r4.CompositionSection, n *node) r4.CompositionSection {
	if s.Text == nil && s.Entry == nil && s.Section == nil {
		reason := one("http://terminology.hl7.org/CodeSystem/list-empty-reason", "unavailable", "Unavailable")
		if n.attr("nullFlavor") == "NASK" {
			reason = one("http://terminology.hl7.org/CodeSystem/list-empty-reason", "notasked", "Not Asked")
		}
		s.EmptyReason = reason
		s.Text = &r4.Narrative{Status: "empty", Div: xhtml("<p>" + escaped(firstOf(s.Title, "Empty section")) + "</p>")}
	}
	return s
}

// sectionOf finds the rule of a section by its LOINC code, else by its templates, else by its title; nil when there is none.
func sectionOf(n *node, rules []sectionRule) *sectionRule {
	for i := range rules {
		if has(n.at("code"), rules[i].codes...) {
			return &rules[i]
		}
	}
	for t := range n.each("templateId") {
		for i := range rules {
			// a section whose entries are required has the root of the other with ".1" after it
			if root := t.attr("root"); isOneOf(root, rules[i].roots...) || isOneOf(strings.TrimSuffix(root, ".1"), rules[i].roots...) {
				return &rules[i]
			}
		}
	}
	title := strings.ToLower(strings.TrimRight(n.at("title").words(), ": "))
	for i := range rules {
		if title != "" && isOneOf(title, rules[i].titles...) {
			return &rules[i]
		}
	}
	return nil
}

// entry turns a statement into resources, and then everything coded in it that its rule did not take.
func (c *converter) entry(n *node, section *sectionRule) {
	if c.isTaken(n) || c.budget.isFull && !c.affords(n.name, 0) {
		return
	}
	if rule := c.ruleOf(n, section); rule != nil {
		rule.convert(c, n)
	}
	if !c.isTaken(n) {
		c.generic(n)
	}
	c.leftovers(n, section)
}

// leftovers takes the statements in a statement that no rule has taken, each by its own template or as a generic fact.
func (c *converter) leftovers(n *node, section *sectionRule) {
	for child := range n.each() {
		switch {
		case isStatement(child) && !c.isTaken(child):
			c.entry(child, nil)
		default:
			c.leftovers(child, section)
		}
	}
}
