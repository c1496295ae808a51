package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// problemSections are the sections whose entries are conditions.
func problemSections() []sectionRule {
	const file = "problems.go"
	concern := []assumption{
		{"act", "", "2.16.840.1.113883.10.20.22.4.3"},
		{"observation", "", "2.16.840.1.113883.10.20.22.4.4"},
	}
	return []sectionRule{
		{
			codes: []string{"11450-4"}, roots: []string{"2.16.840.1.113883.10.20.22.2.5", "2.16.840.1.113883.10.20.1.11", "1.3.6.1.4.1.19376.1.5.3.1.3.6", "2.16.840.1.113883.3.88.11.83.103"},
			name: "Problems", titles: []string{"problems", "problem list", "active problems", "conditions"}, file: file, assume: concern,
		},
		{
			codes: []string{"11348-0"}, roots: []string{"2.16.840.1.113883.10.20.22.2.20", "1.3.6.1.4.1.19376.1.5.3.1.3.8"},
			name: "Past Medical History", titles: []string{"past medical history", "history of past illness", "resolved problems"}, file: file, assume: concern,
		},
		{
			codes: []string{"46241-6"}, roots: []string{"2.16.840.1.113883.10.20.22.2.43"},
			name: "Admission Diagnosis", titles: []string{"admission diagnosis", "hospital admission diagnosis"}, file: file, assume: concern,
		},
		{
			codes: []string{"11535-2", "78375-3"}, roots: []string{"2.16.840.1.113883.10.20.22.2.24"},
			name: "Discharge Diagnosis", titles: []string{"discharge diagnosis", "hospital discharge diagnosis"}, file: file, assume: concern,
		},
		{
			codes: []string{"10219-4"}, roots: []string{"2.16.840.1.113883.10.20.22.2.34"},
			name: "Preoperative Diagnosis", titles: []string{"preoperative diagnosis"}, file: file, assume: concern,
		},
		{
			codes: []string{"10218-6"}, roots: []string{"2.16.840.1.113883.10.20.22.2.35"},
			name: "Postoperative Diagnosis", titles: []string{"postoperative diagnosis"}, file: file, assume: concern,
		},
		{
			codes: []string{"59769-0"}, roots: []string{"2.16.840.1.113883.10.20.22.2.36"},
			name: "Postprocedure Diagnosis", titles: []string{"postprocedure diagnosis"}, file: file, assume: concern,
		},
		{
			codes: []string{"55109-3"}, roots: []string{"2.16.840.1.113883.10.20.22.2.37"},
			name: "Complications", titles: []string{"complications"}, file: file, assume: concern,
		},
		{
			codes: []string{"59776-5"}, roots: []string{"2.16.840.1.113883.10.20.22.2.28"},
			name: "Procedure Findings", titles: []string{"procedure findings"}, file: file, assume: concern,
		},
	}
}

// problemEntries are acts that hold problem observations, and the observation itself.
func problemEntries() []entryRule {
	const file = "problems.go"
	holder := func(c *converter, n *node) { c.problemAct(n) }
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.3", "2.16.840.1.113883.10.20.1.27", "1.3.6.1.4.1.19376.1.5.3.1.4.5.2"},
			name:  "Problem Concern Act", target: "Condition", file: file, convert: holder,
		},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.34"}, name: "Hospital Admission Diagnosis", target: "Condition, Encounter.diagnosis", file: file, convert: holder},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.33"}, name: "Hospital Discharge Diagnosis", target: "Condition, Encounter.diagnosis", file: file, convert: holder},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.65"}, name: "Preoperative Diagnosis", target: "Condition, Encounter.diagnosis", file: file, convert: holder},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.51"}, name: "Postprocedure Diagnosis", target: "Condition, Encounter.diagnosis", file: file, convert: holder},
		{
			roots: problemRoots(), name: "Problem Observation", target: "Condition", file: file, convert: problemBy,
		},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.68"}, name: "Functional Status Problem Observation", target: "Condition", file: file, convert: problemBy},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.73"}, name: "Cognitive Status Problem Observation", target: "Condition", file: file, convert: problemBy},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.80"}, name: "Encounter Diagnosis", target: "Condition, Encounter.diagnosis", file: file, convert: holder},
		{roots: []string{indicationRoot}, name: "Indication", target: "the reason of what is done for it, Condition", file: file, convert: problemAlone},
		{roots: []string{"2.16.840.1.113883.10.20.22.4.114"}, name: "Longitudinal Care Wound Observation", target: "Condition", file: file, convert: problemAlone},
	}
}

// problemRoots are the templates of Problem Observation.
func problemRoots() []string {
	return []string{"2.16.840.1.113883.10.20.22.4.4", "2.16.840.1.113883.10.20.1.28", "1.3.6.1.4.1.19376.1.5.3.1.4.5"}
}

func problemBy(c *converter, n *node) { c.problem(n, nil) }

// problemAlone makes a Condition of a problem that no concern holds.
func problemAlone(c *converter, n *node) {
	if n.at("value") != nil {
		c.problem(n, nil)
	}
}

// problemAct makes Conditions of the problems in an act, and gives references to them.
func (c *converter) problemAct(act *node) []r4.Reference {
	var list []r4.Reference
	for r := range act.each("entryRelationship") {
		for n := range r.each("observation") {
			if c.isProblem(n) {
				list = append(list, *c.problem(n, act))
			}
		}
	}
	if list != nil {
		c.take(act)
	}
	return list
}

// isProblem tells a problem from a status or note beside it: by its template, or without one by its value.
func (c *converter) isProblem(n *node) bool {
	known := false
	for t := range n.each("templateId") {
		if root := t.attr("root"); isOneOf(root, problemRoots()...) {
			return true
		} else if isCDA(root) {
			known = true
		}
	}
	return !known && n.at("value") != nil && !isOneOf(codeOf(n.at("code")), "33999-4", "SEV", "11323-3")
}

// isCDA reports whether a template is one of C-CDA or CCD, whose meaning is known.
func isCDA(root string) bool {
	return strings.HasPrefix(root, "2.16.840.1.113883.10.20.22.4.") || strings.HasPrefix(root, "2.16.840.1.113883.10.20.1.")
}

// problem makes a Condition of a problem observation (C-CDA on FHIR, "Problems"). act is the concern around it, or nil.
func (c *converter) problem(n, act *node) *r4.Reference {
	when := n.at("effectiveTime")
	value := n.at("value")
	r := &r4.Condition{
		Header: c.header("Condition", n), Identifier: identifiers(n), Code: c.conceptOr(value), Subject: c.patient,
		Onset: firstOf(c.dateTime(when.at("low")), c.dateTime(when), c.dateTime(when.at("center"))), Abatement: c.dateTime(when.at("high")),
		BodySite: c.concepts(n, "targetSiteCode"), Category: c.problemCategories(n),
	}
	told := []*node{n}
	if act != nil {
		told = append(told, act)
	}
	status := entryOf(n, "2.16.840.1.113883.10.20.22.4.6", "33999-4")
	r.ClinicalStatus = c.problemStatus(status, act, when)
	if status != nil {
		told = append(told, status) // what its status is called where it is not told stays as a tag
		if r.ClinicalStatus.Has(conditionClinical, statusOfProblem(status.at("value"))) {
			c.take(status.at("value"))
		}
	}
	r.Verification = verification(value)
	if n.attr("negationInd") == "true" {
		c.negateProblem(r, value)
	}
	if high := when.at("high"); r.Abatement == "" && high != nil && r.ClinicalStatus.Has(conditionClinical, "resolved", "inactive", "remission") {
		r.AbatementAbsent = absent(high)
	}
	if severity := entryOf(n, "2.16.840.1.113883.10.20.22.4.8", "SEV"); severity != nil {
		r.Severity = c.concept(severity.at("value"))
		told = append(told, severity)
	}
	if age := entryOf(n, "2.16.840.1.113883.10.20.22.4.31", "445518008"); age != nil && r.Onset == "" {
		if r.OnsetAge = ageOf(age.at("value")); r.OnsetAge != nil {
			told = append(told, age)
		}
	}
	by := c.author(n)
	r.Recorder, r.Recorded = by.as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"), by.time
	r.Asserter = c.party(n.at("informant")).as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson")
	r.Note = c.comments(n)
	if len(r.Code.Coding) == 0 && r.Code.Text == "" {
		r.Code.Text = c.text(n.at("text"))
	}
	if diagnosed := entryOf(n, "2.16.840.1.113883.10.20.22.4.502", "77975-1"); diagnosed != nil {
		if on := c.dateTime(diagnosed.at("effectiveTime")); on != "" {
			r.Extension = append(r.Extension, r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/condition-assertedDate", ValueDateTime: on})
			told = append(told, diagnosed)
		}
	}
	use := c.diagnosisUse()
	if use != nil {
		r.Encounter = c.encounter
	}
	ref := c.add(r, told...)
	if stay := resourceOf[r4.Encounter](c, c.encounter); use != nil && stay != nil {
		c.addDiagnosis(stay, *ref, use)
	}
	return ref
}

// diagnosisUse tells what the problems of a section were to the encounter that the document is about (FHIR, diagnosis-role); nil
// where they need not be of that one.
func (c *converter) diagnosisUse() *r4.CodeableConcept {
	const system = "http://terminology.hl7.org/CodeSystem/diagnosis-role"
	switch c.within {
	case "Admission Diagnosis":
		return one(system, "AD", "Admission diagnosis")
	case "Discharge Diagnosis":
		return one(system, "DD", "Discharge diagnosis")
	case "Preoperative Diagnosis":
		return one(system, "pre-op", "pre-op diagnosis")
	case "Postoperative Diagnosis", "Postprocedure Diagnosis":
		return one(system, "post-op", "post-op diagnosis")
	}
	return nil
}

// verification tells how sure a problem is: one whose code is qualified as suspected (SNOMED CT, finding context) is not confirmed.
func verification(value *node) *r4.CodeableConcept {
	const system = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
	for q := range value.each("qualifier") {
		if has(q.at("value"), "415684004") {
			return one(system, "provisional", "Provisional")
		}
	}
	return one(system, "confirmed", "Confirmed")
}

// problemCategories gives the category by the section, and the kind of problem as the document says it.
func (c *converter) problemCategories(n *node) []r4.CodeableConcept {
	const system = "http://terminology.hl7.org/CodeSystem/condition-category"
	category := one(system, "encounter-diagnosis", "Encounter Diagnosis")
	switch c.within {
	case "Problems", "Past Medical History", "Functional Status", "Mental Status", "Social History", "":
		category = one(system, "problem-list-item", "Problem List Item")
	case "Health Concerns":
		category = one("http://hl7.org/fhir/us/core/CodeSystem/condition-category", "health-concern", "Health Concern")
	}
	list := []r4.CodeableConcept{*category}
	if kind := n.at("code"); codeOf(kind) != "ASSERTION" {
		list = append(list, listed(c.concept(kind))...)
	}
	return list
}

// problemStatuses is the ConceptMap of "C-CDA on FHIR" for ProblemStatus, with codes and words that older documents have.
const problemStatuses = `
55561003 active
active active
246455001 recurrence
263855007 relapse
277022003 remission
765205004 remission
73425007 inactive
90734009 inactive
inactive inactive
chronic active
413322009 resolved
resolved resolved
`

// problemStatus gives the clinical status: of the status observation, else of the concern. One that has ended is not active
// (con-4), even if nobody knows when. It is nil when nothing is said: another mention of the problem may know. The status of an
// act that is no concern, such as a diagnosis, is that of the act.
func (c *converter) problemStatus(status, act, when *node) *r4.CodeableConcept {
	code := statusOfProblem(status.at("value"))
	if code == "" && (c.within == "Problems" || has(act.at("code"), "CONC") || isTemplate(act, "2.16.840.1.113883.10.20.22.4.3")) {
		code = lookup("\nactive active\ncompleted resolved\naborted inactive\nsuspended inactive\n", strings.ToLower(codeOf(act.at("statusCode"))))
	}
	if high := when.at("high"); high != nil && !isOneOf(high.attr("nullFlavor"), "NA", "NI", "PINF") && !isOneOf(code, "inactive", "remission") {
		code = "resolved"
	}
	if code == "" {
		return nil
	}
	return conditionStatus(code)
}

func statusOfProblem(value *node) string {
	return lookup(problemStatuses, strings.ToLower(firstOf(codeOf(value), value.attr("displayName"))))
}

const conditionClinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"

// conditionStatus writes a code of Condition.clinicalStatus.
func conditionStatus(code string) *r4.CodeableConcept {
	return one(conditionClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// negateProblem says that a problem is not there. That there is none at all is a code of its own (C-CDA on FHIR, "Problems": no
// known problems).
func (c *converter) negateProblem(r *r4.Condition, value *node) {
	if has(value, "55607006", "64572001") {
		for _, coding := range r.Code.Coding {
			r.Tag(coding)
		}
		r.Code = one("http://snomed.info/sct", "160245001", "No current problems or disability")
		return
	}
	r.Verification = one("http://terminology.hl7.org/CodeSystem/condition-ver-status", "refuted", "Refuted")
}

// ageOf reads an age in the units that FHIR has for it, and nil for any other (age-1).
func ageOf(value *node) *r4.Quantity {
	age := quantity(value)
	if age == nil || !isOneOf(age.Code, "a", "mo", "wk", "d", "h", "min") || strings.Trim(string(age.Value), "-0.") == "" || age.Value[0] == '-' {
		return nil
	}
	return age
}

// entryOf finds the statement in an entryRelationship of another by its template, or by its code where it has no template.
func entryOf(n *node, root string, codes ...string) *node {
	for r := range n.each("entryRelationship") {
		for s := range r.each() {
			if !isStatement(s) {
				continue
			}
			for t := range s.each("templateId") {
				if t.attr("root") == root {
					return s
				}
			}
			if len(codes) > 0 && has(s.at("code"), codes...) {
				return s
			}
		}
	}
	return nil
}

// comments gives the comment activities of a statement as notes (2.16.840.1.113883.10.20.22.4.64).
func (c *converter) comments(n *node) []r4.Annotation {
	var notes []r4.Annotation
	for r := range n.each("entryRelationship") {
		for act := range r.each("act") {
			words := firstOf(c.text(act.at("text")), c.text(act.at("code", "originalText")))
			if !isComment(act) || c.isTaken(act) {
				continue
			}
			c.take(act)
			if by := c.ownAuthor(act); words != "" {
				notes = append(notes, r4.Annotation{AuthorReference: by.as("Practitioner", "Organization", "Patient", "RelatedPerson"), Time: by.time, Text: words})
			}
		}
	}
	return notes
}

func isComment(n *node) bool { return n.name == "act" && has(n.at("code"), "48767-8") }
