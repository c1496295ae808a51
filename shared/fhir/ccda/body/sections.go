package body

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// Read converts the document's sections and returns them as Composition sections with their narrative.
func (d *Dispatcher) Read() []r4.CompositionSection {
	for _, part := range d.c.Document.Unstated {
		d.c.Emit.DropUnstated(part.What, part.Reason)
	}
	body := d.c.Document.Root.At("component", "structuredBody")
	if text := d.c.Document.Root.At("component", "nonXMLBody", "text"); text != nil {
		docref.AddUnstructured(d.c, text)
	}
	var list []r4.CompositionSection
	for component := range body.Each("component") {
		for section := range component.Each("section") {
			list = append(list, d.section(section, nil)...)
		}
	}
	return list
}

// section converts one section, its entries and its subsections. Subsections without their own rule use the outer
// section's rule. It returns nil if the section exceeds the remaining budget.
func (d *Dispatcher) section(n *cda.Node, outer *statement.Section) []r4.CompositionSection {
	rule := sectionOf(n, d.sections)
	if rule == nil {
		rule = outer
	}
	report := emit.SectionReport{Code: cda.CodeOf(n.At("code"))}
	if rule != nil {
		report.Rule = rule.Name
	}
	out := r4.CompositionSection{
		Title: n.At("title").Words(), Code: d.c.Read.Concept(n.At("code")), Text: d.c.Read.NarrativeOf(n.At("text")),
	}
	isKept := d.c.Emit.AffordsSection("section", complete(out, n))
	if out.Text != nil {
		d.c.Emit.CountText(isKept)
	}
	if !isKept {
		d.c.Emit.CountSection(report)
		return nil
	}
	around, within, outside := d.c.Open, d.c.Within, d.c.InSection
	d.c.Open, d.c.Within, d.c.InSection = r4.ReferenceSet{}, report.Rule, n
	d.content(n, rule, &report)
	d.c.Emit.CountSection(report)
	for author := range n.Each("author") {
		if who := d.c.Make.Party(author).As(
			"Practitioner", "Device", "Organization", "Patient", "RelatedPerson",
		); who != nil {
			out.Author = r4.AppendReference(out.Author, *who)
		}
	}
	if out.Author != nil && !d.c.Emit.AffordsSection("author", out.Author) {
		out.Author = nil
	}
	out.Entry = d.c.Open.List
	d.c.AttributeSection(n, out.Entry)
	d.c.Open, d.c.Within, d.c.InSection = around, within, outside
	for component := range n.Each("component") {
		for inner := range component.Each("section") {
			out.Section = append(out.Section, d.section(inner, rule)...)
		}
	}
	return []r4.CompositionSection{complete(out, n)}
}

// content converts a section's entries. The narrative becomes a note if the section has no entries or its rule requires
// a note, unless the section is negated or absent.
func (d *Dispatcher) content(n *cda.Node, rule *statement.Section, report *emit.SectionReport) {
	for entry := range n.Each("entry") {
		for statement := range entry.Each() {
			if cda.IsStatement(statement) {
				report.Entries++
				d.entry(statement, rule)
				d.c.Emit.Pack()
			}
		}
	}
	switch {
	case d.c.Open.List == nil && emptyReason(n) != "":
	case rule != nil && rule.Narrative != nil:
		rule.Narrative(d.c, n)
	case report.Entries == 0:
		docref.OfWords(d.c, n)
	}
}

// sectionOf returns the rule for a section by its LOINC code, its templates or its title, in this order. It returns nil
// if no rule matches.
func sectionOf(n *cda.Node, rules []statement.Section) *statement.Section {
	for i := range rules {
		if cda.Has(n.At("code"), rules[i].Codes...) {
			return &rules[i]
		}
	}
	for t := range n.Each("templateId") {
		for i := range rules {
			// A section template with required entries has the same root plus ".1".
			if root := t.Attr("root"); cda.IsOneOf(root, rules[i].Roots...) ||
				cda.IsOneOf(strings.TrimSuffix(root, ".1"), rules[i].Roots...) {
				return &rules[i]
			}
		}
	}
	title := strings.ToLower(strings.TrimRight(n.At("title").Words(), ": "))
	for i := range rules {
		if title != "" && cda.IsOneOf(title, rules[i].Titles...) {
			return &rules[i]
		}
	}
	return nil
}

// entry converts a statement to resources, and then any coded content that its rule did not cover.
func (d *Dispatcher) entry(n *cda.Node, section *statement.Section) {
	if d.c.Emit.IsTaken(n) || d.c.Emit.IsFull() && !d.c.Emit.Affords(n.Name, 0) {
		return
	}
	if d.isNullOrganizer(n, section) {
		return
	}
	if cda.IsEmptied(n) {
		d.c.Emit.Take(n)
		return
	}
	if rule := d.ruleOf(n, section); rule != nil {
		rule.Convert(d.c, n)
	}
	if !d.c.Emit.IsTaken(n) {
		observation.Generic(d.c, n)
	}
	d.leftovers(n, section)
}

// leftovers converts nested statements that no rule has covered, by their own templates or as generic facts.
func (d *Dispatcher) leftovers(n *cda.Node, section *statement.Section) {
	for child := range n.Each() {
		switch {
		case cda.IsStatement(child) && !d.c.Emit.IsTaken(child):
			d.entry(child, nil)
		default:
			d.leftovers(child, section)
		}
	}
}
