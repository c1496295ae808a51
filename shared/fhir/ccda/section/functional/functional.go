package functional

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// statusKind is a US Core category (us-core-category) for a kind of status, such as functional status.
type statusKind string

const (
	functionalStatus statusKind = "functional-status"
	cognitiveStatus  statusKind = "cognitive-status"
)

func (k statusKind) category() *r4.CodeableConcept {
	if k == cognitiveStatus {
		return r4.Concept(observation.USCoreCategory, string(k), "Cognitive Status")
	}
	return r4.Concept(observation.USCoreCategory, string(k), "Functional Status")
}

// statusObservation returns the rule for observations of the given kind (US Core Simple Observation). Nested assessment
// scales become members of the Observation.
func statusObservation(kind statusKind) func(*statement.Context, *cda.Node) {
	return func(c *statement.Context, n *cda.Node) {
		o := observation.NewIn(c, n, kind.category())
		for rel := range n.Each("entryRelationship") {
			for scale := range rel.Each("observation") {
				if cda.IsTemplate(scale, "2.16.840.1.113883.10.20.22.4.69") {
					o.DerivedFrom = append(o.DerivedFrom, r4.Listed(c.Rules.Member(scale, nil))...)
				}
			}
		}
		for _, who := range observation.Focus(c, n) {
			o.Focus = r4.AppendReference(o.Focus, *who)
		}
		observation.SetAbsent(o, n.At("value"))
		c.Add(o, n)
	}
}

// statusPanel returns the rule for organizers of the given kind, which become panels of their observations.
func statusPanel(kind statusKind) func(*statement.Context, *cda.Node) {
	return func(c *statement.Context, n *cda.Node) {
		o := observation.Panel(c, n, &statement.Section{
			Assume: []statement.Assumption{{Element: "observation", Root: rootOf(kind)}},
		}, kind.category())
		observation.SetAbsent(o, nil)
		c.Add(o, n)
	}
}

func rootOf(kind statusKind) string {
	if kind == cognitiveStatus {
		return "2.16.840.1.113883.10.20.22.4.74"
	}
	return "2.16.840.1.113883.10.20.22.4.67"
}

// assessment creates an Observation for a scale or questionnaire (US Core Screening Assessment). Answers become
// components of the Observation or, if they have their own time or author, its members.
func assessment(c *statement.Context, n *cda.Node) {
	o := observation.NewIn(c, n, r4.Concept(observation.Category, "survey", "Survey"))
	if c.Within == "Social History" {
		o.Category = append(o.Category, *observation.SocialCategory())
	}
	told := []*cda.Node{n}
	for rel := range n.Each("entryRelationship") {
		for answer := range rel.Each("observation") {
			switch {
			case answer.At("effectiveTime") != nil || answer.At("author") != nil || answer.At("performer") != nil ||
				answer.At("entryRelationship") != nil:
				o.HasMember = append(o.HasMember, r4.Listed(c.Rules.Member(answer, scaleSection()))...)
			case answer.At("value") != nil:
				part := observation.New(c, answer)
				observation.SetAbsent(part, answer.At("value"))
				o.Component = append(o.Component, observation.Component(part))
				o.Identifier = append(o.Identifier, part.Identifier...)
				told = append(told, answer)
			}
		}
	}
	observation.SetAbsent(o, n.At("value"))
	c.Add(o, told...)
}

func scaleSection() *statement.Section {
	return &statement.Section{
		Assume: []statement.Assumption{{Element: "observation", Root: "2.16.840.1.113883.10.20.22.4.86"}},
	}
}
