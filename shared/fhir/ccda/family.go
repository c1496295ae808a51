package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	familyOrganizerRoot   = "2.16.840.1.113883.10.20.22.4.45"
	familyObservationRoot = "2.16.840.1.113883.10.20.22.4.46"
)

func familySections() []sectionRule {
	return []sectionRule{{
		codes: []string{"10157-6"}, name: "Family History", titles: []string{"family history", "family medical history"}, file: "family.go",
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.15", "2.16.840.1.113883.10.20.1.4", "1.3.6.1.4.1.19376.1.5.3.1.3.14", "1.3.6.1.4.1.19376.1.5.3.1.3.15",
			"2.16.840.1.113883.3.88.11.83.125",
		},
		assume: []assumption{{"organizer", "", familyOrganizerRoot}, {"observation", "", familyObservationRoot}},
	}}
}

func familyEntries() []entryRule {
	return []entryRule{
		{
			roots: []string{familyOrganizerRoot, "2.16.840.1.113883.10.20.1.23", "1.3.6.1.4.1.19376.1.5.3.1.4.15"}, name: "Family History Organizer",
			target: "FamilyMemberHistory", file: "family.go", convert: (*converter).familyMember,
		},
		{
			roots: []string{familyObservationRoot, "2.16.840.1.113883.10.20.1.22", "1.3.6.1.4.1.19376.1.5.3.1.4.13.3"}, name: "Family History Observation",
			target: "FamilyMemberHistory.condition", file: "family.go", convert: (*converter).familyMember,
		},
	}
}

// familyMember makes a FamilyMemberHistory of a relative with what they had (FHIR familymemberhistory-mappings, CDA); of one
// observation where no organizer holds it. What a relative is said not to have had stands for itself, as FHIR's conditions
// cannot be denied.
func (c *converter) familyMember(n *node) {
	h := &r4.FamilyMemberHistory{
		Header: c.header("FamilyMemberHistory", n), Identifier: identifiers(n), Status: historyStatus(n), Patient: c.patient, Note: c.comments(n),
		Date: c.author(n).time,
	}
	c.setRelative(h, n.at("subject", "relatedSubject"))
	told := []*node{n}
	if n.name == "observation" {
		if isTrue(n.attr("negationInd")) {
			c.generic(n)
			return
		}
		c.familyCondition(h, n)
		c.add(h, told...)
		return
	}
	for part := range n.each("component") {
		for o := range part.each("observation") {
			if !isTrue(o.attr("negationInd")) && o.at("value") != nil {
				told = append(append(told, o), c.familyCondition(h, o)...)
			}
		}
	}
	c.add(h, told...)
}

// setRelative reads who it is (RelatedSubject). The code says how they are related to the patient, which FHIR requires.
func (c *converter) setRelative(h *r4.FamilyMemberHistory, relative *node) {
	who := relative.at("subject")
	h.Relationship = c.conceptOr(relative.at("code"))
	for _, name := range c.humanNames(who) {
		h.Name = firstOf(h.Name, shown(name))
	}
	if sex := gender(who.at("administrativeGenderCode")); sex != "" {
		h.Sex = one("http://hl7.org/fhir/administrative-gender", sex, strings.ToUpper(sex[:1])+sex[1:])
	}
	h.Born = c.date(who.at("birthTime"))
	if h.DeceasedDate = c.date(who.at("deceasedTime")); h.DeceasedDate == "" {
		h.DeceasedBoolean = flag(who.at("deceasedInd"))
	}
}

// familyCondition adds what a relative had, at which age, and whether they died of it (Family History Death Observation,
// 2.16.840.1.113883.10.20.22.4.47; Age Observation, …4.31). It gives the statements that it took for it.
func (c *converter) familyCondition(h *r4.FamilyMemberHistory, o *node) []*node {
	var told []*node
	condition := r4.FamilyCondition{Code: c.conceptOr(o.at("value")), Note: c.comments(o)}
	if len(condition.Code.Coding) == 1 && condition.Code.Coding[0].System == absentSystem {
		condition.Code.Text = c.text(o.at("text"))
	}
	age := ageObservation(o)
	if age != nil {
		if condition.OnsetAge = ageOf(age.at("value")); condition.OnsetAge != nil {
			told = append(told, age)
		}
	}
	if condition.OnsetAge == nil { // FHIR has one onset; the time of the observation is told by its Provenance
		condition.OnsetPeriod = c.period(o.at("effectiveTime"))
	}
	death := firstNode(entryOf(o, "2.16.840.1.113883.10.20.22.4.47"), entryOf(o, "2.16.840.1.113883.10.20.1.42"))
	told = append(told, setDeathOf(h, &condition, death)...)
	h.Condition = append(h.Condition, condition)
	return told
}

// setDeathOf says that a relative has died, of this condition when it is the cause, and at what age.
func setDeathOf(h *r4.FamilyMemberHistory, condition *r4.FamilyCondition, death *node) []*node {
	if death == nil {
		return nil
	}
	told := []*node{death}
	if death.parent.attr("typeCode") == "CAUS" {
		condition.Contributed = yes()
	}
	if age := ageObservation(death); age != nil && h.DeceasedDate == "" && ageOf(age.at("value")) != nil {
		h.DeceasedAge, h.DeceasedBoolean = ageOf(age.at("value")), nil
		told = append(told, age)
	}
	if h.DeceasedAge == nil && h.DeceasedDate == "" {
		h.DeceasedBoolean = yes()
	}
	return told
}

func ageObservation(n *node) *node {
	return firstNode(entryOf(n, "2.16.840.1.113883.10.20.22.4.31", "445518008"), entryOf(n, "2.16.840.1.113883.10.20.1.38", "397659008"))
}

// historyStatus maps ActStatus to FamilyHistoryStatus.
func historyStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "active", "new", "held", "suspended":
		return "partial"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "completed"
}
