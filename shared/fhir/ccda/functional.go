package ccda

import "recordbridge/shared/fhir/ccda/r4"

// functionalSections are the sections about what the patient can do, and about mind and behavior.
func functionalSections() []sectionRule {
	return []sectionRule{
		{
			codes: []string{"47420-5"}, name: "Functional Status", titles: []string{"functional status"}, file: "functional.go",
			roots: []string{"2.16.840.1.113883.10.20.22.2.14", "2.16.840.1.113883.10.20.1.5", "1.3.6.1.4.1.19376.1.5.3.1.3.17", "2.16.840.1.113883.3.88.11.83.109"},
			assume: []assumption{
				{"organizer", "", "2.16.840.1.113883.10.20.22.4.66"},
				{"observation", "", "2.16.840.1.113883.10.20.22.4.67"},
			},
			shared: []string{"2.16.840.1.113883.10.20.22.4.2", "2.16.840.1.113883.10.20.22.4.1"},
		},
		{
			codes: []string{"10190-7"}, roots: []string{"2.16.840.1.113883.10.20.22.2.56"}, name: "Mental Status",
			titles: []string{"mental status", "cognitive status"}, file: "functional.go",
			assume: []assumption{
				{"organizer", "", "2.16.840.1.113883.10.20.22.4.75"},
				{"observation", "", "2.16.840.1.113883.10.20.22.4.74"},
			},
		},
	}
}

func functionalEntries() []entryRule {
	const file = "functional.go"
	rule := func(name string, convert func(*converter, *node), roots ...string) entryRule {
		return entryRule{roots: roots, name: name, target: "Observation", file: file, convert: convert}
	}
	return []entryRule{
		rule("Functional Status Organizer", statusPanel(functionalStatus), "2.16.840.1.113883.10.20.22.4.66"),
		rule("Functional Status Observation", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.67"),
		rule("Self-Care Activities", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.128"),
		rule("Sensory Status", statusObservation(functionalStatus), "2.16.840.1.113883.10.20.22.4.127"),
		rule("Mental Status Organizer", statusPanel(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.75"),
		rule("Mental Status Observation", statusObservation(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.74"),
		rule("Cognitive Abilities Observation", statusObservation(cognitiveStatus), "2.16.840.1.113883.10.20.22.4.126"),
		rule("Assessment Scale Observation", (*converter).assessment, "2.16.840.1.113883.10.20.22.4.69"),
		rule("Assessment Scale Supporting Observation", (*converter).assessment, "2.16.840.1.113883.10.20.22.4.86"),
	}
}

// statusKind is what a status is about, as the category of US Core (us-core-category) that it is found by.
type statusKind string

const (
	functionalStatus statusKind = "functional-status"
	cognitiveStatus  statusKind = "cognitive-status"
)

func (k statusKind) category() *r4.CodeableConcept {
	if k == cognitiveStatus {
		return one(usCoreCategory, string(k), "Cognitive Status")
	}
	return one(usCoreCategory, string(k), "Functional Status")
}

// statusObservation makes the rule of an observation of a kind (US Core Simple Observation). Scales by which it was found are its
// members.
func statusObservation(kind statusKind) func(*converter, *node) {
	return func(c *converter, n *node) {
		o := c.observed(n, kind.category())
		for rel := range n.each("entryRelationship") {
			for scale := range rel.each("observation") {
				if isTemplate(scale, "2.16.840.1.113883.10.20.22.4.69") {
					o.DerivedFrom = append(o.DerivedFrom, listed(c.member(scale, nil))...)
				}
			}
		}
		for _, who := range c.focus(n) {
			o.Focus = appendReference(o.Focus, *who)
		}
		setAbsent(o, n.at("value"))
		c.add(o, n)
	}
}

// statusPanel makes the rule of an organizer of a kind: a panel with its observations.
func statusPanel(kind statusKind) func(*converter, *node) {
	return func(c *converter, n *node) {
		o := c.panel(n, &sectionRule{assume: []assumption{{"observation", "", rootOf(kind)}}}, kind.category())
		setAbsent(o, nil)
		c.add(o, n)
	}
}

func rootOf(kind statusKind) string {
	if kind == cognitiveStatus {
		return "2.16.840.1.113883.10.20.22.4.74"
	}
	return "2.16.840.1.113883.10.20.22.4.67"
}

// assessment makes an Observation of a scale or questionnaire (US Core Screening Assessment). Answers are components, unless
// they have a time or an author of their own: then they are members.
func (c *converter) assessment(n *node) {
	o := c.observed(n, one(observationCategory, "survey", "Survey"))
	if c.within == "Social History" {
		o.Category = append(o.Category, *socialCategory())
	}
	told := []*node{n}
	for rel := range n.each("entryRelationship") {
		for answer := range rel.each("observation") {
			switch {
			case answer.at("effectiveTime") != nil || answer.at("author") != nil || answer.at("performer") != nil || answer.at("entryRelationship") != nil:
				o.HasMember = append(o.HasMember, listed(c.member(answer, scaleSection()))...)
			case answer.at("value") != nil:
				part := c.observation(answer)
				setAbsent(part, answer.at("value"))
				o.Component = append(o.Component, component(part))
				o.Identifier = append(o.Identifier, part.Identifier...)
				told = append(told, answer)
			}
		}
	}
	setAbsent(o, n.at("value"))
	c.add(o, told...)
}

func scaleSection() *sectionRule {
	return &sectionRule{assume: []assumption{{"observation", "", "2.16.840.1.113883.10.20.22.4.86"}}}
}
