package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// allergySections are the sections whose entries are allergies.
func allergySections() []sectionRule {
	return []sectionRule{{
		codes: []string{"48765-2"}, name: "Allergies", titles: []string{"allergies", "allergies and adverse reactions", "allergies, adverse reactions, alerts"},
		roots: []string{"2.16.840.1.113883.10.20.22.2.6", "2.16.840.1.113883.10.20.1.2", "1.3.6.1.4.1.19376.1.5.3.1.3.13", "2.16.840.1.113883.3.88.11.83.102"},
		file:  "allergies.go",
		// acts of CCD and IHE around problems and allergies alike, and what they say of both
		shared: []string{"2.16.840.1.113883.10.20.1.27", "1.3.6.1.4.1.19376.1.5.3.1.4.5.1", "2.16.840.1.113883.10.20.1.28", "1.3.6.1.4.1.19376.1.5.3.1.4.5"},
		assume: []assumption{
			{"act", "", "2.16.840.1.113883.10.20.22.4.30"},
			{"observation", "", "2.16.840.1.113883.10.20.22.4.7"},
		},
	}}
}

func allergyEntries() []entryRule {
	const file = "allergies.go"
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.30", "1.3.6.1.4.1.19376.1.5.3.1.4.5.3"},
			name:  "Allergy Concern Act", target: "AllergyIntolerance", file: file, convert: (*converter).allergyAct,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.7", "2.16.840.1.113883.10.20.24.3.90", "2.16.840.1.113883.10.20.1.18", "1.3.6.1.4.1.19376.1.5.3.1.4.6"},
			name:  "Allergy Intolerance Observation", target: "AllergyIntolerance", file: file, convert: func(c *converter, n *node) { c.allergy(n, nil) },
		},
	}
}

// allergyAct makes AllergyIntolerances of the observations in a concern.
func (c *converter) allergyAct(act *node) {
	for r := range act.each("entryRelationship") {
		for n := range r.each("observation") {
			if n.at("participant") != nil || n.at("value") != nil && !has(n.at("code"), "33999-4", "SEV", "82606-5") {
				c.allergy(n, act)
			}
		}
	}
}

const (
	allergyClinical = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
	allergyVerified = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
)

// allergyTypes has type and category by the value of the observation (ConceptMaps of "C-CDA on FHIR" for AllergyIntoleranceType
// and AllergyIntoleranceCategory, and the older value set 2.16.840.1.113883.3.88.12.3221.6.2). A hyphen is for neither.
const allergyTypes = `
416098002 allergy medication
414285001 allergy food
419199007 allergy -
426232007 allergy environment
59037007 intolerance medication
235719002 intolerance food
418471000 - food
419511003 - medication
420134006 - -
418038007 - -
232347008 allergy environment
DALG allergy medication
FALG allergy food
EALG allergy environment
DINT intolerance medication
FINT intolerance food
EINT intolerance environment
DNAINT intolerance medication
FNAINT intolerance food
ENAINT intolerance environment
`

// allergy makes an AllergyIntolerance (C-CDA on FHIR, "Allergies"). act is the concern around it, or nil.
func (c *converter) allergy(n, act *node) {
	when, value := n.at("effectiveTime"), n.at("value")
	substance := n.at("participant", "participantRole", "playingEntity")
	r := &r4.AllergyIntolerance{Header: c.header("AllergyIntolerance", n), Identifier: identifiers(n), Patient: c.patient, Onset: c.start(when)}
	told := []*node{n}
	if act != nil {
		told = append(told, act)
	}
	r.Code = c.substance(substance)
	c.setAllergyKind(r, value)
	status := entryOf(n, "2.16.840.1.113883.10.20.22.4.28", "33999-4")
	r.ClinicalStatus = allergyStatus(status, act, when)
	r.Verification = one(allergyVerified, "confirmed", "Confirmed")
	if n.attr("negationInd") == "true" {
		negateAllergy(r, value)
	}
	if r.Code == nil {
		r.Code = c.unnamedAllergy(n)
	}
	criticality := entryOf(n, "2.16.840.1.113883.10.20.22.4.145", "82606-5")
	r.Criticality = lookup("\nCRITH high\nCRITL low\nCRITU unable-to-assess\n", codeOf(criticality.at("value")))
	by := c.author(n)
	r.Recorder, r.Recorded = by.as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"), by.time
	if ended := c.dateTime(when.at("high")); ended != "" {
		r.Extension = append(r.Extension, r4.Extension{URL: "http://hl7.org/fhir/StructureDefinition/allergyintolerance-abatement", ValueDateTime: ended})
	}
	r.Asserter = c.party(n.at("informant")).as("Patient", "RelatedPerson", "Practitioner", "PractitionerRole")
	r.Note = c.comments(n)
	severity := firstNode(severityOf(n), severityOf(act))
	for rel := range n.each("entryRelationship") {
		for reaction := range rel.each("observation") {
			if isReaction(rel, reaction) {
				r.Reaction = append(r.Reaction, c.reaction(reaction, severity))
				told = append(told, reaction, severityOf(reaction))
				if last := c.dateTime(reaction.at("effectiveTime", "high")); last > r.LastOccurrence {
					r.LastOccurrence = last
				}
			}
		}
	}
	if r.Reaction == nil && reactionSeverity(severity) != "" { // it is said of no reaction that has a name
		r.Reaction = []r4.AllergyReaction{{Manifestation: []r4.CodeableConcept{*absentConcept(nil)}, Severity: reactionSeverity(severity)}}
	}
	c.add(r, append(told, status, criticality, severityOf(n), severityOf(act))...)
}

// substance reads what somebody is allergic to.
func (c *converter) substance(entity *node) *r4.CodeableConcept {
	code := c.concept(entity.at("code"))
	name := entity.at("name").words()
	switch {
	case code == nil && name != "":
		return &r4.CodeableConcept{Text: name}
	case code != nil && code.Text == "" && name != "":
		code.Text = name
	}
	return code
}

// unnamedAllergy is the code of an allergy whose substance is not coded: the words that the document has for it.
func (c *converter) unnamedAllergy(n *node) *r4.CodeableConcept {
	return c.inWords(n, n.at("participant", "participantRole", "playingEntity", "code"))
}

// setAllergyKind sets type and category, and keeps the value whole as R5 has it, since it says more than both.
func (c *converter) setAllergyKind(r *r4.AllergyIntolerance, value *node) {
	kind, category, _ := strings.Cut(lookup(allergyTypes, codeOf(value)), " ")
	if kind == "allergy" || kind == "intolerance" {
		r.Type = kind
	}
	if category != "" && category != "-" {
		r.Category = []string{category}
	}
	if concept := c.concept(value); concept != nil {
		const typeOfR5 = "http://hl7.org/fhir/5.0/StructureDefinition/extension-AllergyIntolerance.type"
		r.Extension = append(r.Extension, r4.Extension{URL: typeOfR5, ValueCodeableConcept: concept})
	}
}

// allergyStatus gives the clinical status: of the status observation, else of the concern. One that has ended is resolved.
func allergyStatus(status, act, when *node) *r4.CodeableConcept {
	code := "active"
	switch codeOf(status.at("value")) {
	case "73425007":
		code = "inactive"
	case "413322009":
		code = "resolved"
	case "":
		switch strings.ToLower(codeOf(act.at("statusCode"))) {
		case "completed":
			code = "resolved"
		case "aborted", "suspended":
			code = "inactive"
		}
	}
	if high := when.at("high"); high != nil && code == "active" && (high.attr("value") != "" || high.attr("nullFlavor") == "UNK") {
		code = "resolved"
	}
	return one(allergyClinical, code, strings.ToUpper(code[:1])+code[1:])
}

// negateAllergy says that there is no such allergy. That there is none of a kind is a code of its own (ConceptMap of "C-CDA on
// FHIR" for NoKnownAllergies); that there is none to a substance refutes it.
func negateAllergy(r *r4.AllergyIntolerance, value *node) {
	if r.Code != nil && len(r.Code.Coding) > 0 {
		r.Verification = one(allergyVerified, "refuted", "Refuted") // with its clinical status, which ait-1 asks for
		return
	}
	none := one("http://snomed.info/sct", "716186003", "No known allergy")
	switch {
	case has(value, "416098002", "419511003", "DALG", "59037007"):
		none = one("http://snomed.info/sct", "409137002", "No known drug allergy")
	case has(value, "414285001", "418471000", "FALG", "235719002"):
		none = one("http://snomed.info/sct", "429625007", "No known food allergy")
	case has(value, "426232007", "232347008", "EALG"):
		none = one("http://snomed.info/sct", "428607008", "No known environmental allergy")
	}
	if r.Code != nil {
		none.Text = r.Code.Text
	}
	r.Code = none
}

func isReaction(r, n *node) bool {
	if r.attr("typeCode") == "MFST" {
		return true
	}
	for t := range n.each("templateId") {
		if isOneOf(t.attr("root"), "2.16.840.1.113883.10.20.22.4.9", "2.16.840.1.113883.10.20.1.54") {
			return true
		}
	}
	return false
}

// severityOf finds the severity of a reaction, or of all reactions where it stands beside them.
func severityOf(n *node) *node { return entryOf(n, "2.16.840.1.113883.10.20.22.4.8", "SEV") }

// reaction reads one reaction. What it was treated with stands for itself.
func (c *converter) reaction(n, severity *node) r4.AllergyReaction {
	manifestation := c.concept(n.at("value"))
	if manifestation == nil {
		manifestation = c.inWords(n, n.at("value"))
	}
	own := firstNode(severityOf(n), severity)
	return r4.AllergyReaction{
		Manifestation: []r4.CodeableConcept{*manifestation}, Onset: c.start(n.at("effectiveTime")), Severity: reactionSeverity(own), Note: c.comments(n),
	}
}

// reactionSeverity maps the severity of SNOMED CT (ConceptMap of "C-CDA on FHIR" for Severity; the values between count as the
// higher one).
func reactionSeverity(n *node) string {
	switch codeOf(n.at("value")) {
	case "255604002":
		return "mild"
	case "6736007", "371923003":
		return "moderate"
	case "24484000", "371924009", "399166001":
		return "severe"
	}
	switch strings.ToLower(n.at("value").attr("displayName")) {
	case "mild", "moderate", "severe":
		return strings.ToLower(n.at("value").attr("displayName"))
	}
	return ""
}
