package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	healthConcernRoot = "2.16.840.1.113883.10.20.22.4.132"
	riskConcernRoot   = "2.16.840.1.113883.10.20.22.4.136"
	healthConcernName = "Health Concerns" // of the section, for the category of its Conditions
	conditionOfUSCore = "http://hl7.org/fhir/us/core/CodeSystem/condition-category"
	indicationRoot    = "2.16.840.1.113883.10.20.22.4.19"
)

func concernSections() []sectionRule {
	const file = "concerns.go"
	return []sectionRule{
		{
			codes: []string{"75310-3"}, roots: []string{"2.16.840.1.113883.10.20.22.2.58"}, name: healthConcernName, file: file,
			titles: []string{"health concerns", "health concerns section"},
			assume: []assumption{{"act", "", healthConcernRoot}, {"observation", "", "2.16.840.1.113883.10.20.22.4.4"}},
		},
		{
			codes: []string{"59768-2"}, roots: []string{"2.16.840.1.113883.10.20.22.2.29"}, name: "Procedure Indications", file: file,
			titles: []string{"procedure indications", "indications"}, assume: []assumption{{"observation", "", indicationRoot}}, narrative: (*converter).noteOfWords,
		},
		{
			codes: []string{"61144-2"}, roots: []string{"2.16.840.1.113883.10.20.22.2.57"}, name: "Nutrition", file: file, titles: []string{"nutrition", "nutrition section"},
			assume: []assumption{{"observation", "", "2.16.840.1.113883.10.20.22.4.124"}},
		},
	}
}

func concernEntries() []entryRule {
	const file = "concerns.go"
	return []entryRule{
		{roots: []string{healthConcernRoot}, name: "Health Concern Act", target: "Condition (health-concern)", file: file, convert: (*converter).healthConcern},
		{roots: []string{riskConcernRoot}, name: "Risk Concern Act", target: "Condition (health-concern)", file: file, convert: (*converter).riskConcern},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.133"}, name: "Wound Measurement Observation", target: "Observation", file: file, convert: (*converter).generic},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.134"}, name: "Wound Characteristics", target: "Observation", file: file, convert: (*converter).generic},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.76"}, name: "Number of Pressure Ulcers Observation", target: "Observation", file: file, convert: (*converter).generic},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.77"}, name: "Highest Pressure Ulcer Stage", target: "Observation", file: file, convert: (*converter).generic},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.124"}, name: "Nutritional Status Observation", target: "Observation", file: file, convert: (*converter).generic},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.138"}, name: "Nutrition Assessment", target: "Observation", file: file, convert: (*converter).generic},
	}
}

func isHealthConcern(r *r4.Condition) bool {
	for _, category := range r.Category {
		if category.Has(conditionOfUSCore, "health-concern") {
			return true
		}
	}
	return false
}

// healthConcern makes Conditions of the problems that a concern is about (US Core Condition Problems and Health Concerns). What
// supports it (SPRT) is evidence. One that is about something else, such as smoking, is a Condition of that; one that only
// points to problems elsewhere makes them health concerns.
func (c *converter) healthConcern(act *node) {
	var made []r4.Reference
	var about *node
	for rel := range act.each("entryRelationship") {
		for s := range rel.each("observation") {
			supports := rel.attr("typeCode") == "SPRT"
			switch {
			case supports || isTemplate(s, preferenceRoot):
			case c.isProblem(s):
				made = append(made, *c.problem(s, act))
			case about == nil:
				about = s
			}
		}
	}
	if made == nil && (about != nil || c.text(act.at("text")) != "") {
		made = append(made, *c.concernAbout(act, about))
	}
	c.take(act)
	c.later = append(c.later, func() { c.relateConcern(act, made) })
}

// concernAbout makes a Condition of a concern that holds no problem: of the value of what it is about, or of its words.
func (c *converter) concernAbout(act, about *node) *r4.Reference {
	r := c.concernOf(act)
	if v, ok := c.value(about.at("value")); ok && v.ValueCodeableConcept != nil {
		r.Code = v.ValueCodeableConcept
	} else if code := c.concept(about.at("code")); code != nil {
		r.Code = code
	} else {
		r.Code = &r4.CodeableConcept{Text: firstOf(c.text(act.at("text")), "Health concern")}
	}
	return c.add(r, act)
}

// concernOf begins the Condition of an act.
func (c *converter) concernOf(act *node) *r4.Condition {
	by := c.author(act)
	return &r4.Condition{
		Header: c.header("Condition", act), Identifier: identifiers(act), Subject: c.patient, ClinicalStatus: concernStatus(act),
		Verification: one("http://terminology.hl7.org/CodeSystem/condition-ver-status", "confirmed", "Confirmed"),
		Category:     []r4.CodeableConcept{*healthConcernCategory()}, Recorder: by.as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"),
		Recorded: firstOf(c.start(act.at("effectiveTime")), by.time), Note: c.comments(act),
	}
}

// concernStatus maps ActStatus of a concern to the clinical status of its Conditions.
func concernStatus(act *node) *r4.CodeableConcept {
	code := lookup("\ncompleted resolved\naborted inactive\ncancelled inactive\nsuspended inactive\n", strings.ToLower(codeOf(act.at("statusCode"))))
	return conditionStatus(firstOf(code, "active"))
}

func healthConcernCategory() *r4.CodeableConcept {
	return one(conditionOfUSCore, "health-concern", "Health Concern")
}

// relateConcern adds evidence and, to problems that stand elsewhere, the category.
func (c *converter) relateConcern(act *node, made []r4.Reference) {
	followed := c.start(act.at("effectiveTime"))
	if made == nil {
		made = ofType(c.related(act, "REFR", "COMP", "SUBJ"), "Condition")
	}
	for _, ref := range made {
		r := resourceOf[r4.Condition](c, &ref)
		if r == nil {
			continue
		}
		if r.ClinicalStatus == nil {
			r.ClinicalStatus = concernStatus(act)
		}
		if !isHealthConcern(r) {
			r.Category = append(r.Category, *healthConcernCategory())
		}
		r.Recorded = firstOf(r.Recorded, followed)
		if evidence := without(c.related(act, "SPRT"), &ref); evidence != nil {
			r.Evidence = append(r.Evidence, r4.ConditionSupport{Detail: evidence})
		}
	}
}

// riskConcern makes a Condition of a risk: its code is the risk and not what the patient is at risk of, which they do not have.
// That stands beside it, as what the risk is of.
func (c *converter) riskConcern(act *node) {
	r := c.concernOf(act)
	r.Code = c.concept(act.at("code"))
	if r.Code == nil || r.Code.Has(loinc, "75310-3") {
		r.Code = one("http://snomed.info/sct", "281694009", "Finding of at risk (finding)")
	}
	told := []*node{act}
	var words []string
	for rel := range act.each("entryRelationship") {
		for s := range rel.each("observation") {
			if rel.attr("typeCode") != "SPRT" && c.isProblem(s) {
				of := c.conceptOr(s.at("value"))
				r.Evidence = append(r.Evidence, r4.ConditionSupport{Code: []r4.CodeableConcept{*of}})
				words = append(words, conceptWords(of))
				told = append(told, s)
			}
		}
	}
	if of := strings.Join(words, ", "); of != "" {
		r.Code.Text = firstOf(conceptWords(r.Code), "At risk") + ": " + of
	} else {
		r.Code.Text = firstOf(r.Code.Text, c.text(act.at("text")))
	}
	made := []r4.Reference{*c.add(r, told...)}
	c.later = append(c.later, func() { c.relateConcern(act, made) })
}
