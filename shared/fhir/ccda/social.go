package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// socialSections is the section about how the patient lives.
func socialSections() []sectionRule {
	return []sectionRule{{
		codes: []string{"29762-2"}, name: "Social History", titles: []string{"social history", "social determinants of health"}, file: "social.go",
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.17", "2.16.840.1.113883.10.20.1.15", "1.3.6.1.4.1.19376.1.5.3.1.3.16", "1.3.6.1.4.1.19376.1.5.3.1.3.16.1",
			"2.16.840.1.113883.3.88.11.83.126",
		},
		assume: []assumption{{"observation", "", "2.16.840.1.113883.10.20.22.4.38"}},
		shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.13"},
	}}
}

func socialEntries() []entryRule {
	const file = "social.go"
	rule := func(name string, convert func(*converter, *node), roots ...string) entryRule {
		return entryRule{roots: roots, name: name, target: "Observation", file: file, convert: convert}
	}
	return append(patientEntries(),
		rule("Social History Observation", (*converter).social,
			"2.16.840.1.113883.10.20.22.4.38", "2.16.840.1.113883.10.20.1.33", "2.16.840.1.113883.3.88.11.83.19", "1.3.6.1.4.1.19376.1.5.3.1.4.13.4"),
		rule("Smoking Status", coded("72166-2", "Tobacco smoking status"), "2.16.840.1.113883.10.20.22.4.78"),
		rule("Tobacco Use", coded("11367-0", "History of Tobacco use"), "2.16.840.1.113883.10.20.22.4.85"),
		rule("Pregnancy Observation", (*converter).pregnancy, "2.16.840.1.113883.10.20.15.3.8"),
		rule("Pregnancy Intention in Next Year", coded("86645-9", "Pregnancy intention in the next year - Reported"), "2.16.840.1.113883.10.20.22.4.281"),
		rule("Sexual Orientation Observation", coded("76690-7", "Sexual orientation"), "2.16.840.1.113883.10.20.22.4.501"),
		rule("Characteristics of Home Environment", (*converter).social, "2.16.840.1.113883.10.20.22.4.109"),
		rule("Caregiver Characteristics", (*converter).social, "2.16.840.1.113883.10.20.22.4.72"),
		rule("Cultural and Religious Observation", (*converter).social, "2.16.840.1.113883.10.20.22.4.111"),
		rule("Basic Occupation Observation", coded("11341-5", "History of Occupation"), "2.16.840.1.113883.10.20.22.4.503"),
		rule("Basic Industry Observation", coded("86188-0", "History of Occupation industry"), "2.16.840.1.113883.10.20.22.4.504"),
		rule("Past or Present Occupation Observation", (*converter).social, "2.16.840.1.113883.10.20.22.4.217"),
		rule("Usual Occupation Observation", (*converter).social, "2.16.840.1.113883.10.20.22.4.221"),
		rule("Employment Status Observation", (*converter).social, "2.16.840.1.113883.10.20.22.4.212"),
		rule("Disability Status Observation", (*converter).disability, "2.16.840.1.113883.10.20.22.4.505"),
	)
}

func socialCategory() *r4.CodeableConcept {
	return one(observationCategory, "social-history", "Social History")
}

// coded makes the rule of an observation for which profiles have one code (C-CDA on FHIR, "Social History"). Older documents say
// ASSERTION there.
func coded(code, display string) func(*converter, *node) {
	return func(c *converter, n *node) {
		o := c.readSocial(n)
		if isOneOf(codeOf(n.at("code")), "ASSERTION", "") || code == "72166-2" && !isTobaccoCode(n.at("code")) {
			recode(o, code, display)
		}
		c.add(o, n)
	}
}

// isTobaccoCode reports whether a code is in US Core's value set for smoking status (us-core-smoking-status-type).
func isTobaccoCode(n *node) bool {
	return has(n, "72166-2", "11367-0", "81229-7", "401201003", "782516008")
}

// social makes an Observation of anything else about how the patient lives. What templates have for it is also found by code.
func (c *converter) social(n *node) {
	code := n.at("code")
	if about, ok := factOf(code); ok {
		c.patientFact(n, about)
		return
	}
	if has(code, "82810-3") || has(n.at("value"), "77386006") && codeOf(code) == "ASSERTION" {
		c.pregnancy(n)
		return
	}
	c.add(c.readSocial(n), n)
}

// readSocial reads an observation of the social history. That somebody does not know, or does not say, is an answer as well
// (C-CDA on FHIR, "Social History": nullFlavor UNK).
func (c *converter) readSocial(n *node) *r4.Observation {
	o := c.observed(n, socialCategory())
	if !has(n.at("code"), "72166-2") { // the smoking status is that of a day
		o.Effective, o.EffectivePeriod = lasting(n.at("effectiveTime"), o.Effective, o.EffectivePeriod)
	}
	if isSocialRisk(n.at("code")) {
		o.Category = append(o.Category, *one(usCoreCategory, "sdoh", "SDOH"))
	}
	for _, who := range c.focus(n) {
		o.Focus = appendReference(o.Focus, *who)
	}
	setAbsent(o, n.at("value"))
	return o
}

// isSocialRisk reports whether a question is about social needs (US Core, "Screening and Assessments": Social Determinants of
// Health).
func isSocialRisk(code *node) bool {
	return has(code,
		"71802-3", "88122-7", "88123-5", "88124-3", "93030-5", "93031-3", "93033-9", "93034-7", "93038-8", "76513-1", "96778-6", "96779-4",
		"96780-2", "96781-0", "96782-8", "89555-7", "95618-5", "95615-1", "68516-4", "67875-5", "82589-3", "93025-5", "96777-8",
	)
}

// focus gives who an observation is about, where that is somebody else than the patient, such as a caregiver.
func (c *converter) focus(n *node) []*r4.Reference {
	var list []*r4.Reference
	for p := range n.each("participant") {
		if who := c.party(p).as("RelatedPerson", "Practitioner"); who != nil && p.attr("typeCode") == "IND" {
			list = append(list, who)
		}
	}
	return list
}

// pregnancy makes the Observation of US Core Pregnancy Status; when the child is expected is a component (C-CDA on FHIR, "Social
// History": Pregnancy).
func (c *converter) pregnancy(n *node) {
	o := c.readSocial(n)
	recode(o, "82810-3", "Pregnancy status")
	if n.at("value").attr("nullFlavor") == "UNK" && o.Value == (r4.Value{}) {
		o.Value, o.Absent = r4.Value{ValueCodeableConcept: unknownValue(n.at("value"))}, nil
	}
	if isTrue(n.attr("negationInd")) && has(n.at("value"), "77386006") { // the value set has a code for it
		o.Value, o.Absent = r4.Value{ValueCodeableConcept: one("http://snomed.info/sct", "60001007", "Not pregnant")}, nil
	}
	told := []*node{n}
	if expected := entryOf(n, "2.16.840.1.113883.10.20.15.3.1", "11778-8"); expected != nil {
		part := c.observation(expected)
		o.Component = append(o.Component, component(part))
		told = append(told, expected)
	}
	c.add(o, told...)
}

// unknownValue is a nullFlavor as an answer.
func unknownValue(n *node) *r4.CodeableConcept {
	code := n.attr("nullFlavor")
	return one("http://terminology.hl7.org/CodeSystem/v3-NullFlavor", code, lookup("\nUNK unknown\nASKU asked but unknown\nOTH other\nNASK not asked\n", code))
}

// disability makes an Observation of the disability status (US Core category disability-status).
func (c *converter) disability(n *node) {
	o := c.readSocial(n)
	o.Category = append(o.Category, *one(usCoreCategory, "disability-status", "Disability Status"))
	c.add(o, n)
}

// birthSex gives a code of US Core's value set for birth sex; "" for any other.
func birthSex(value *node) string {
	if code := strings.ToUpper(codeOf(value)); isOneOf(code, "F", "M", "OTH", "ASKU", "UNK") {
		return code
	}
	switch codeOf(value) {
	case "248152002":
		return "F"
	case "248153007":
		return "M"
	}
	if flavor := value.attr("nullFlavor"); isOneOf(flavor, "OTH", "ASKU", "UNK") {
		return flavor
	}
	return ""
}
