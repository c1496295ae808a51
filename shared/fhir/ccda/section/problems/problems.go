package problems

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/encounter"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
)

// problemAct creates Conditions for the problems in an act and returns references to them.
func problemAct(c *statement.Context, act *cda.Node) []r4.Reference {
	var list []r4.Reference
	for r := range act.Each("entryRelationship") {
		for n := range r.Each("observation") {
			if isProblem(n) {
				list = append(list, *problem(c, n, act))
			}
		}
	}
	if list != nil {
		c.Emit.Take(act)
	}
	return list
}

// isProblem reports whether an observation is a problem rather than a problem's status or note. isProblem checks the
// template or, if there is none, the value.
func isProblem(n *cda.Node) bool {
	known := false
	for t := range n.Each("templateId") {
		if root := t.Attr("root"); cda.IsOneOf(root, problemRoots()...) {
			return true
		} else if isCDA(root) {
			known = true
		}
	}
	return !known && n.At("value") != nil && !cda.IsOneOf(cda.CodeOf(n.At("code")), "33999-4", "SEV", "11323-3")
}

// isCDA reports whether a template is defined by C-CDA or CCD, and therefore has a known meaning.
func isCDA(root string) bool {
	return strings.HasPrefix(root, "2.16.840.1.113883.10.20.22.4.") ||
		strings.HasPrefix(root, "2.16.840.1.113883.10.20.1.")
}

// problem creates a Condition for a problem observation (C-CDA on FHIR, "Problems"). act is the enclosing concern, or
// nil.
func problem(c *statement.Context, n, act *cda.Node) *r4.Reference {
	when := n.At("effectiveTime")
	value := n.At("value")
	r := &r4.Condition{
		Header: c.Emit.Header("Condition", n), Identifier: datatype.Identifiers(n), Code: c.Read.Concept(value),
		Subject:  c.Patient,
		Onset:    cmp.Or(c.Read.DateTime(when.At("low")), c.Read.DateTime(when), c.Read.DateTime(when.At("center"))),
		BodySite: c.Read.Concepts(n, "targetSiteCode"), Category: problemCategories(c, n),
	}
	if r.Code == nil {
		r.Code = c.Read.InWords(n, value)
	}
	setEnd(c, r, when.At("high"))
	told := []*cda.Node{n}
	if act != nil {
		told = append(told, act)
	}
	if status := setStatus(c, r, n, act); status != nil {
		told = append(told, status)
	}
	if severity := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.8", "SEV"); severity != nil {
		r.Severity = c.Read.Concept(severity.At("value"))
		told = append(told, severity)
	}
	if age := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.31", "445518008"); age != nil && r.Onset == "" {
		if r.OnsetAge = datatype.AgeOf(age.At("value")); r.OnsetAge != nil {
			told = append(told, age)
		}
	}
	by := c.Make.Author(n)
	r.Recorder, r.Recorded = by.As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"), by.Time
	r.Asserter = c.Make.Party(n.At("informant")).As("Practitioner", "PractitionerRole", "Patient", "RelatedPerson")
	r.Note = append(r.Note, c.Comments(n)...)
	if diagnosed := cda.EntryOf(n, "2.16.840.1.113883.10.20.22.4.502", "77975-1"); diagnosed != nil {
		if on := c.Read.DateTime(diagnosed.At("effectiveTime")); on != "" {
			r.Extension = append(r.Extension, r4.Extension{
				URL: "http://hl7.org/fhir/StructureDefinition/condition-assertedDate", ValueDateTime: on,
			})
			told = append(told, diagnosed)
		}
	}
	use := diagnosisUse(c)
	if use != nil {
		r.Encounter = c.Encounter
	}
	ref := c.Add(r, told...)
	if stay := emit.ResourceOf[r4.Encounter](c.Emit, c.Encounter); use != nil && stay != nil &&
		!isRefuted(r) {
		encounter.AddDiagnosis(stay, *ref, use)
	}
	return ref
}

// setStatus sets the clinical and verification status. It returns the Problem Status Observation, or nil. A status that
// Condition can't represent becomes a tag.
func setStatus(c *statement.Context, r *r4.Condition, n, act *cda.Node) *cda.Node {
	value, high := n.At("value"), n.At("effectiveTime", "high")
	status := cda.EntryOf(n, statement.ProblemStatusRoot, "33999-4")
	r.ClinicalStatus = problemStatus(c, n, act)
	if said := statement.ProblemStatusOf(status.At("value")); status != nil &&
		r.ClinicalStatus.Has(statement.ConditionClinical, said) {
		c.Emit.Take(status.At("value"))
	}
	r.Verification = verification(value)
	if cda.IsNegated(n) {
		negateProblem(r, value)
	} else if noneInWords.Of(datatype.Normalized(r.Code.Text)) != "" && len(r.Code.Coding) == 0 {
		r.Code.Coding = noProblems().Coding
	}
	if end := c.EndOf(n.At("effectiveTime")); end == statement.UnknownEnd &&
		r.ClinicalStatus.Has(statement.ConditionClinical, "resolved", "inactive", "remission") {
		r.AbatementAbsent = datatype.Absent(high)
	}
	return status
}

// setEnd sets the end of a problem. A future end becomes a note, because a Condition with an abatement has ended
// (con-4).
func setEnd(c *statement.Context, r *r4.Condition, high *cda.Node) {
	r.Abatement = c.Read.DateTime(high)
	if r.Abatement != "" && c.Document.IsLater(high) {
		r.Note = append(r.Note, r4.Annotation{Text: "Expected end: " + r.Abatement})
		r.Abatement = ""
	}
}

// diagnosisUse returns the role that a section's problems have in the document's encounter (FHIR, diagnosis-role). It
// returns nil if the problems may belong to another encounter.
func diagnosisUse(c *statement.Context) *r4.CodeableConcept {
	const system = "http://terminology.hl7.org/CodeSystem/diagnosis-role"
	switch c.Within {
	case "Admission Diagnosis":
		return r4.Concept(system, "AD", "Admission diagnosis")
	case "Discharge Diagnosis":
		return r4.Concept(system, "DD", "Discharge diagnosis")
	case "Preoperative Diagnosis":
		return r4.Concept(system, "pre-op", "pre-op diagnosis")
	case "Postoperative Diagnosis", "Postprocedure Diagnosis":
		return r4.Concept(system, "post-op", "post-op diagnosis")
	}
	return nil
}

// verification returns a problem's verification status. A code qualified as suspected (SNOMED CT, finding context) is
// not confirmed.
func verification(value *cda.Node) *r4.CodeableConcept {
	for q := range value.Each("qualifier") {
		if cda.Has(q.At("value"), "415684004") {
			return r4.Concept(statement.ConditionVerified, "provisional", "Provisional")
		}
	}
	return r4.Concept(statement.ConditionVerified, "confirmed", "Confirmed")
}

// problemCategories returns the section's category, followed by the category for the kind of problem stated in the
// document.
func problemCategories(c *statement.Context, n *cda.Node) []r4.CodeableConcept {
	const system = "http://terminology.hl7.org/CodeSystem/condition-category"
	category := r4.Concept(system, "encounter-diagnosis", "Encounter Diagnosis")
	switch c.Within {
	case "Problems", "Past Medical History", "Functional Status", "Mental Status", "Social History", "":
		category = r4.Concept(system, "problem-list-item", "Problem List Item")
	case "Health Concerns":
		category = r4.Concept(
			"http://hl7.org/fhir/us/core/CodeSystem/condition-category", "health-concern", "Health Concern",
		)
	}
	list := []r4.CodeableConcept{*category}
	if kind := n.At("code"); cda.CodeOf(kind) != "ASSERTION" {
		list = append(list, r4.Listed(c.Read.Concept(kind))...)
	}
	return list
}

// problemStatus returns the clinical status. It returns nil if no status is stated, because another statement about the
// problem may state one. The status of an act other than a concern, such as a diagnosis, describes only the act.
func problemStatus(c *statement.Context, n, act *cda.Node) *r4.CodeableConcept {
	concern := ""
	if c.Within == "Problems" || cda.Has(act.At("code"), "CONC") ||
		cda.IsTemplate(act, "2.16.840.1.113883.10.20.22.4.3") {
		concern = cda.StatusOf(act)
	}
	return c.ProblemStatus(n, concern)
}

// negateProblem marks a problem as absent (C-CDA on FHIR, "Problems", row negationInd). The absence of all problems has
// a separate code. A refuted problem has a clinical status only if it has an end (con-4).
func negateProblem(r *r4.Condition, value *cda.Node) {
	if cda.Has(value, "55607006", "64572001") {
		r.Tag(r.Code.Coding...)
		words := r.Code.Text
		r.Code = noProblems()
		r.Code.Text = words
		return
	}
	r.Verification = r4.Concept(statement.ConditionVerified, "refuted", "Refuted")
	if r.ClinicalStatus = nil; r.Abatement != "" {
		r.ClinicalStatus = statement.ConditionStatus("inactive")
	}
}

func isRefuted(r *r4.Condition) bool {
	return r.Verification.Has(statement.ConditionVerified, "refuted")
}

func noProblems() *r4.CodeableConcept {
	return r4.Concept("http://snomed.info/sct", "160245001", "No current problems or disability")
}
