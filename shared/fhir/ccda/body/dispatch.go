package body

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Member implements statement.Rules.
func (d *Dispatcher) Member(n *cda.Node, section *statement.Section) *r4.Reference {
	if !d.c.Emit.IsTaken(n) {
		if rule := d.ruleOf(n, section); rule != nil {
			rule.Convert(d.c, n)
		}
	}
	return d.c.Emit.Reference(n)
}

// anywhere is what a statement is taken for by its class and mood, where its section does not say.
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
	if n.Name == "supply" && n.At("product") == nil && n.At("participant") != nil { // of a device, not of medication
		return "2.16.840.1.113883.10.20.22.4.50"
	}
	if n.Name == "procedure" && n.At("value") != nil { // CDA has none there: it is an observation
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

// ruleOf gives the rule of a statement: by its templates, else by its section, class and mood; nil when there is none.
// Its templates are counted as taken or unknown.
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
	if unknown != "" {
		d.c.Emit.CountUnknown(unknown)
	}
	if section != nil {
		if rule := d.rules[assumed(section.Assume, n)]; rule != nil {
			return rule
		}
	}
	return d.rules[assumed(anywhere(), n)]
}

// ConvertBy implements statement.Rules.
func (d *Dispatcher) ConvertBy(root string, n *cda.Node) bool {
	rule := d.rules[root]
	if rule != nil {
		rule.Convert(d.c, n)
	}
	return rule != nil
}
