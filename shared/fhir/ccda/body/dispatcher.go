// Package body converts a document's structured body, selecting a rule for each section and entry. Content without a
// rule becomes generic facts, so that no coded data is lost.
package body

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Dispatcher selects the conversion rules for sections and entries. It implements statement.Rules.
type Dispatcher struct {
	c        *statement.Context
	rules    map[string]*statement.Entry // keyed by template
	sections []statement.Section
	unknown  map[int32]bool // numbers of statements counted as having an unknown template
}

// New returns a Dispatcher for a document and sets it as the context's Rules.
func New(c *statement.Context, all []statement.RuleSet) *Dispatcher {
	d := &Dispatcher{c: c, rules: map[string]*statement.Entry{}, unknown: map[int32]bool{}}
	for _, of := range all {
		d.sections = append(d.sections, of.Sections...)
		for i := range of.Entries {
			for _, root := range of.Entries[i].Roots {
				d.rules[root] = &of.Entries[i]
			}
		}
	}
	c.Rules = d
	return d
}

// Member implements statement.Rules.
func (d *Dispatcher) Member(n *cda.Node, section *statement.Section) *r4.Reference {
	if !d.c.Emit.IsTaken(n) && !d.isNullOrganizer(n, section) {
		if rule := d.ruleOf(n, section); rule != nil {
			rule.Convert(d.c, n)
		}
	}
	return d.c.Emit.Reference(n)
}

// anywhere returns the assumptions that apply to all sections. They derive a template from a statement's class and mood
// if none of its section's own assumptions applies.
func anywhere() []statement.Assumption {
	return []statement.Assumption{
		{Element: "substanceAdministration", Root: "2.16.840.1.113883.10.20.22.4.16"},
		{Element: "procedure", Mood: "EVN", Root: "2.16.840.1.113883.10.20.22.4.14"},
		{Element: "procedure", Root: "2.16.840.1.113883.10.20.22.4.41"},
		{Element: "encounter", Mood: "EVN", Root: "2.16.840.1.113883.10.20.22.4.49"},
		{Element: "encounter", Root: "2.16.840.1.113883.10.20.22.4.40"},
		{Element: "supply", Mood: "EVN", Root: "2.16.840.1.113883.10.20.22.4.18"},
		{Element: "supply", Root: "2.16.840.1.113883.10.20.22.4.17"},
		{Element: "observation", Mood: "GOL", Root: "2.16.840.1.113883.10.20.22.4.121"},
	}
}

func assumed(list []statement.Assumption, n *cda.Node) string {
	// The supplied item is a device, not a medication.
	if n.Name == "supply" && n.At("product") == nil && n.At("participant") != nil {
		return "2.16.840.1.113883.10.20.22.4.50"
	}
	// CDA allows no value in a procedure, so treat the statement as an observation
	if n.Name == "procedure" && n.At("value") != nil {
		return ""
	}
	if isAside(n) {
		return ""
	}
	mood := cmp.Or(n.Attr("moodCode"), "EVN")
	for _, a := range list {
		if a.Element == n.Name && (a.Mood == "" || a.Mood == mood) {
			return a.Root
		}
	}
	return ""
}

// isAside reports whether an observation only describes a neighbouring or enclosing statement, for example as an
// information source, a status or a comment (LOINC codes in CCD). An observation of this kind is not a result, vital
// sign or finding.
func isAside(n *cda.Node) bool {
	return n.Name == "observation" && cda.Has(n.At("code"), "48766-0", "33999-4", "48767-8")
}

// ConvertBy implements statement.Rules.
func (d *Dispatcher) ConvertBy(root string, n *cda.Node) bool {
	rule := d.rules[root]
	if rule != nil && !d.isNullOrganizer(n, nil) {
		rule.Convert(d.c, n)
	}
	return rule != nil
}

// isNullOrganizer reports whether an organizer has a null flavor and therefore states no facts itself. If the organizer
// has a nullFlavor, isNullOrganizer also converts its members.
func (d *Dispatcher) isNullOrganizer(n *cda.Node, section *statement.Section) bool {
	if n.Name != "organizer" || n.Attr("nullFlavor") == "" {
		return false
	}
	d.c.Emit.Take(n)
	d.c.Emit.DropUnstated(cda.TemplateOrName(n), cda.NullReason(n.Attr("nullFlavor")))
	for member := range cda.Members(n) {
		d.entry(member, section)
	}
	return true
}

// ruleOf returns the rule for a statement, or nil if no rule matches. ruleOf looks up the rule by the statement's
// templates, and then by its section, class and mood. If a template has a rule, ruleOf counts the template as covered;
// otherwise, it counts the first template as unknown.
func (d *Dispatcher) ruleOf(n *cda.Node, section *statement.Section) *statement.Entry {
	unknown := ""
	for t := range n.Each("templateId") {
		root := t.Attr("root")
		if section != nil && cda.IsOneOf(root, section.Shared...) {
			continue
		}
		if rule := d.rules[root]; rule != nil {
			d.c.Emit.CountTemplate(rule.Roots[0])
			return rule
		}
		unknown = cmp.Or(unknown, root)
	}
	if unknown != "" && !d.unknown[n.Number] {
		d.unknown[n.Number] = true
		d.c.Emit.CountUnknown(unknown)
	}
	if section != nil {
		if rule := d.rules[assumed(section.Assume, n)]; rule != nil {
			return rule
		}
	}
	return d.rules[assumed(anywhere(), n)]
}
