package family

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// familyMember creates a FamilyMemberHistory for a relative and their conditions (FHIR familymemberhistory-mappings,
// CDA), or for a single observation outside an organizer. Negated conditions become separate resources, because FHIR's
// FamilyMemberHistory can't negate a relative's condition.
func familyMember(c *statement.Context, n *cda.Node) {
	h := &r4.FamilyMemberHistory{
		Header: c.Emit.Header("FamilyMemberHistory", n), Identifier: datatype.Identifiers(n), Status: historyStatus(n),
		Patient: c.Patient, Note: c.Comments(n),
		Date: c.Make.Author(n).Time,
	}
	setRelative(c, h, n.At("subject", "relatedSubject"))
	told := []*cda.Node{n}
	if n.Name == "observation" {
		if cda.IsNegated(n) {
			observation.Generic(c, n)
			return
		}
		familyCondition(c, h, n)
		c.Add(h, told...)
		return
	}
	for part := range n.Each("component") {
		for o := range part.Each("observation") {
			if !cda.IsNegated(o) && o.At("value") != nil {
				told = append(append(told, o), familyCondition(c, h, o)...)
			}
		}
	}
	c.Add(h, told...)
}

// setRelative converts the relative (RelatedSubject). FHIR requires the relationship to the patient. The relationship
// is taken from the code.
func setRelative(c *statement.Context, h *r4.FamilyMemberHistory, relative *cda.Node) {
	who := relative.At("subject")
	h.Relationship = c.Read.ConceptOr(relative.At("code"))
	for _, name := range c.Read.HumanNames(who) {
		h.Name = cmp.Or(h.Name, datatype.Shown(name))
	}
	if sex := datatype.Gender(who.At("administrativeGenderCode")); sex != "" {
		h.Sex = r4.Concept("http://hl7.org/fhir/administrative-gender", sex, strings.ToUpper(sex[:1])+sex[1:])
	}
	h.Born = c.Read.Date(who.At("birthTime"))
	if h.DeceasedDate = c.Read.Date(who.At("deceasedTime")); h.DeceasedDate == "" {
		h.DeceasedBoolean = datatype.Flag(who.At("deceasedInd"))
	}
}

// familyCondition adds a relative's condition, the age at onset (Age Observation, 2.16.840.1.113883.10.20.22.4.31), and
// whether the condition caused the relative's death (Family History Death Observation, …4.47). It returns the
// statements that it has converted.
func familyCondition(c *statement.Context, h *r4.FamilyMemberHistory, o *cda.Node) []*cda.Node {
	var told []*cda.Node
	condition := r4.FamilyCondition{Code: c.Read.ConceptOr(o.At("value")), Note: c.Comments(o)}
	if len(condition.Code.Coding) == 1 && condition.Code.Coding[0].System == datatype.AbsentSystem {
		condition.Code.Text = c.Read.Text(o.At("text"))
	}
	age := ageObservation(o)
	if age != nil {
		if condition.OnsetAge = datatype.AgeOf(age.At("value")); condition.OnsetAge != nil {
			told = append(told, age)
		}
	}
	if condition.OnsetAge == nil { // FHIR allows only one onset. Provenance holds the observation's time.
		condition.OnsetPeriod = c.Read.Period(o.At("effectiveTime"))
	}
	death := cmp.Or(cda.EntryOf(o, "2.16.840.1.113883.10.20.22.4.47"), cda.EntryOf(o, "2.16.840.1.113883.10.20.1.42"))
	told = append(told, setDeathOf(h, &condition, death)...)
	h.Condition = append(h.Condition, condition)
	return told
}

// setDeathOf records that a relative has died, the relative's age at death, and whether the condition caused the death.
func setDeathOf(h *r4.FamilyMemberHistory, condition *r4.FamilyCondition, death *cda.Node) []*cda.Node {
	if death == nil {
		return nil
	}
	told := []*cda.Node{death}
	if death.Parent.Attr("typeCode") == "CAUS" {
		condition.Contributed = r4.True()
	}
	if age := ageObservation(death); age != nil && h.DeceasedDate == "" && datatype.AgeOf(age.At("value")) != nil {
		h.DeceasedAge, h.DeceasedBoolean = datatype.AgeOf(age.At("value")), nil
		told = append(told, age)
	}
	if h.DeceasedAge == nil && h.DeceasedDate == "" {
		h.DeceasedBoolean = r4.True()
	}
	return told
}

func ageObservation(n *cda.Node) *cda.Node {
	return cmp.Or(
		cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.31", "445518008"),
		cda.EntryOf(n, "2.16.840.1.113883.10.20.1.38", "397659008"),
	)
}

// historyStatus maps ActStatus to FamilyHistoryStatus. An unknown status counts as partial.
func historyStatus(n *cda.Node) string {
	if cda.HasNoStatus(n) {
		return "completed"
	}
	return cmp.Or(statuses.Of(cda.StatusOf(n)), "partial")
}
