package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// medicationSections are the sections whose entries are medication activities.
func medicationSections() []sectionRule {
	const file = "medications.go"
	assume := []assumption{
		{"substanceAdministration", "", "2.16.840.1.113883.10.20.22.4.16"},
		{"supply", "EVN", "2.16.840.1.113883.10.20.22.4.18"},
		{"supply", "", "2.16.840.1.113883.10.20.22.4.17"},
	}
	return []sectionRule{
		{
			codes: []string{"10160-0", "8677-7"}, name: "Medications", titles: []string{"medications", "current medications", "medication list"}, file: file, assume: assume,
			roots: []string{"2.16.840.1.113883.10.20.22.2.1", "2.16.840.1.113883.10.20.1.8", "1.3.6.1.4.1.19376.1.5.3.1.3.19", "2.16.840.1.113883.3.88.11.83.112"},
		},
		{
			codes: []string{"10183-2", "75311-1"}, roots: []string{"2.16.840.1.113883.10.20.22.2.11", "1.3.6.1.4.1.19376.1.5.3.1.3.22"},
			name: "Discharge Medications", titles: []string{"discharge medications", "hospital discharge medications"}, file: file, assume: assume,
		},
		{
			codes: []string{"29549-3"}, roots: []string{"2.16.840.1.113883.10.20.22.2.38", "1.3.6.1.4.1.19376.1.5.3.1.3.21"},
			name: medicationsAdministered, titles: []string{"medications administered"}, file: file, assume: assume,
		},
		{
			codes: []string{"42346-7"}, roots: []string{"2.16.840.1.113883.10.20.22.2.44", "1.3.6.1.4.1.19376.1.5.3.1.3.20"},
			name: "Admission Medications", titles: []string{"admission medications", "medications on admission"}, file: file, assume: assume,
		},
		{
			codes: []string{"59774-0"}, roots: []string{"2.16.840.1.113883.10.20.22.2.25"},
			name: medicationsAdministered, titles: []string{"anesthesia"}, file: file, assume: assume,
		},
	}
}

// medicationsAdministered is the section whose medication has been given, by whoever wrote the document.
const medicationsAdministered = "Medications Administered"

func medicationEntries() []entryRule {
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.16", "2.16.840.1.113883.10.20.1.24", "1.3.6.1.4.1.19376.1.5.3.1.4.7"},
			name:  "Medication Activity", target: "MedicationStatement, MedicationRequest (planned), MedicationAdministration (administered)",
			file: "medications.go", convert: (*converter).medication,
		},
		{
			roots: []string{plannedMedicationRoot}, name: "Planned Medication Activity",
			target: "MedicationRequest", file: "medications.go", convert: (*converter).medication,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.120"}, name: "Planned Immunization Activity",
			target: "MedicationRequest", file: "medications.go", convert: (*converter).medication,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.36"}, name: "Admission Medication",
			target: "MedicationStatement", file: "medications.go", convert: (*converter).medicationAct,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.35"}, name: "Discharge Medication",
			target: "MedicationRequest, MedicationStatement", file: "medications.go", convert: (*converter).medicationAct,
		},
		{
			roots: []string{supplyOrderRoot, "2.16.840.1.113883.10.20.1.34", "1.3.6.1.4.1.19376.1.5.3.1.4.7.3"},
			name:  "Medication Supply Order", target: "MedicationRequest.dispenseRequest", file: "supplies.go", convert: (*converter).supplyOrder,
		},
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.18"}, name: "Medication Dispense",
			target: "MedicationDispense", file: "supplies.go", convert: (*converter).dispense,
		},
	}
}

// medicationAct takes the medication in the act that a list of the hospital wraps it in.
func (c *converter) medicationAct(act *node) {
	var told *r4.Header
	for r := range act.each("entryRelationship") {
		for n := range r.each("substanceAdministration") {
			c.medication(n)
			c.take(act)
			told = c.toldBy(n)
		}
	}
	if told == nil {
		return
	}
	c.tell(act, told)
	if act.at("code") != nil {
		c.tagUntold(told, act)
	}
}

// medication makes of a medication activity what its mood and its section say: something that is taken, given or to be taken
// (C-CDA on FHIR, "Medications").
func (c *converter) medication(n *node) {
	m := c.readMedication(n)
	mood := n.attr("moodCode")
	switch {
	case mood != "" && mood != "EVN":
		c.add(c.medicationRequest(m), m.told...)
	case c.within == medicationsAdministered:
		c.add(c.medicationAdministration(m), m.told...)
	default:
		c.add(c.medicationStatement(m), m.told...)
	}
}

// activity is what a medication activity says, whatever it becomes.
type activity struct {
	n        *node
	status   string // of FHIR's medication resources
	concept  *r4.CodeableConcept
	product  *r4.Reference // instead of concept, when more than a code is known
	moment   string
	period   *r4.Period
	dosage   r4.Dosage
	reasons  []r4.CodeableConcept
	notes    []r4.Annotation
	author   party
	dispense *r4.DispenseRequest
	told     []*node
}

func (c *converter) readMedication(n *node) activity {
	m := activity{n: n, status: medicationStatus(n), author: c.author(n), notes: c.comments(n), told: []*node{n}}
	m.concept, m.product = c.product(n)
	m.moment, m.period = c.effective(boundsOf(n))
	for r := range n.each("entryRelationship") {
		for inner := range r.each() {
			c.readPart(&m, r, inner)
		}
	}
	c.setDosage(&m)
	return m
}

// readPart reads a statement in a medication activity. What is not for it stands for itself.
func (c *converter) readPart(m *activity, r, n *node) {
	switch {
	case n.name == "observation" && (r.attr("typeCode") == "RSON" && !isTemplate(n, preferenceRoot) || isTemplate(n, indicationRoot)):
		if reason := c.concept(n.at("value")); reason != nil {
			m.reasons = append(m.reasons, *reason)
			m.told = append(m.told, n)
		}
	case n.name == "act" && isTemplate(n, instructionRoots()...):
		m.dosage.PatientInstruction = joined(m.dosage.PatientInstruction, c.text(n.at("text")))
		m.dosage.AdditionalInstruction = append(m.dosage.AdditionalInstruction, listed(c.concept(n.at("code")))...)
		m.told = append(m.told, n)
	case n.name == "substanceAdministration" && (has(n.at("code"), "76662-6") || isTemplate(n, "2.16.840.1.113883.10.20.22.4.147")):
		m.dosage.Text = c.text(n.at("text"))
		m.told = append(m.told, n)
	case n.name == "observation" && has(n.at("code"), "33999-4"):
		if status := statusOfList(codeOf(n.at("value"))); status != "" {
			m.status = status
		}
		m.told = append(m.told, n)
	case n.name == "supply" && n.attr("moodCode") != "" && n.attr("moodCode") != "EVN" && m.n.attr("moodCode") != "EVN" && m.dispense == nil:
		m.dispense = c.dispenseRequest(n)
		m.told = append(m.told, n)
	}
}

// instructionRoots are the templates of an instruction: of C-CDA, CCD and IHE.
func instructionRoots() []string {
	return []string{"2.16.840.1.113883.10.20.22.4.20", "2.16.840.1.113883.10.20.1.49", "1.3.6.1.4.1.19376.1.5.3.1.4.3"}
}

// medicationStatus maps ActStatus (ConceptMap of "C-CDA on FHIR" for MedicationStatus). Without one nothing is known.
func medicationStatus(n *node) string {
	switch strings.ToLower(codeOf(n.at("statusCode"))) {
	case "active", "new", "ordered": // the last is no ActStatus, and a vendor's
		return "active"
	case "completed":
		return "completed"
	case "aborted", "cancelled", "canceled":
		return "stopped"
	case "suspended", "held":
		return "on-hold"
	case "nullified", "obsolete":
		return "entered-in-error"
	}
	return "unknown"
}

// statusOfList maps the medication status of older documents (2.16.840.1.113883.10.20.1.47).
func statusOfList(code string) string {
	return lookup("\n55561003 active\n73425007 stopped\n421139008 on-hold\n392521001 completed\n", code)
}

func (c *converter) medicationStatement(m activity) *r4.MedicationStatement {
	s := &r4.MedicationStatement{
		Header: c.header("MedicationStatement", m.n), Identifier: identifiers(m.n), Status: m.status, Medication: m.concept, MedicationRef: m.product,
		Subject: c.patient, DateAsserted: m.author.time, Reason: m.reasons, Note: m.notes,
	}
	s.Effective, s.EffectivePeriod = lasting(boundsOf(m.n), m.moment, m.period)
	if isTrue(m.n.attr("negationInd")) {
		s.Status = "not-taken"
	}
	told := c.party(m.n.at("informant")).as("Patient", "RelatedPerson", "Practitioner", "PractitionerRole", "Organization")
	s.Source = firstReference(told, m.author.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson"))
	if !isEmpty(m.dosage) {
		s.Dosage = []r4.Dosage{m.dosage}
	}
	return s
}

func (c *converter) medicationRequest(m activity) *r4.MedicationRequest {
	r := &r4.MedicationRequest{
		Header: c.header("MedicationRequest", m.n), Identifier: identifiers(m.n), Status: m.status, Intent: medicationIntent(m.n),
		Medication: m.concept, MedicationRef: m.product, Subject: c.patient, AuthoredOn: m.author.time, Reason: m.reasons, Note: m.notes, Dispense: m.dispense,
		Requester: m.author.as("Practitioner", "PractitionerRole", "Organization", "Patient", "RelatedPerson", "Device"),
	}
	if isTrue(m.n.attr("negationInd")) {
		r.DoNotPerform = yes()
	}
	for _, who := range c.performers(m.n) {
		r.Performer = firstReference(r.Performer, who.as("Practitioner", "PractitionerRole", "Organization", "Patient", "Device", "RelatedPerson"))
	}
	if !isEmpty(m.dosage) {
		r.Dosage = []r4.Dosage{m.dosage}
	}
	return r
}

// medicationIntent maps a mood (ConceptMap of "C-CDA on FHIR" for MedActivityMood); in a plan INT is only that.
func medicationIntent(n *node) string {
	switch n.attr("moodCode") {
	case "INT":
		if isTemplate(n, "2.16.840.1.113883.10.20.22.4.42", "2.16.840.1.113883.10.20.22.4.43", "2.16.840.1.113883.10.20.22.4.120") {
			return "plan"
		}
		return "order"
	case "RQO":
		return "order"
	}
	return "proposal"
}

func (c *converter) medicationAdministration(m activity) *r4.MedicationAdministration {
	a := &r4.MedicationAdministration{
		Header: c.header("MedicationAdministration", m.n), Identifier: identifiers(m.n), Status: administrationStatus(m), Medication: m.concept, MedicationRef: m.product,
		Subject: c.patient, Context: c.encounter, Effective: m.moment, EffectivePeriod: m.period, Reason: m.reasons, Note: m.notes,
	}
	if a.Effective == "" && a.EffectivePeriod == nil {
		a.EffectiveAbsent = absent(boundsOf(m.n))
	}
	if how := m.dosage.Timing; how != nil && how.Repeat != nil && how.Repeat.Period != "" {
		// R4 has no place for how often it was given; R5 has, under this name
		const timingOfR5 = "http://hl7.org/fhir/5.0/StructureDefinition/extension-MedicationAdministration.occurence"
		a.Extension = append(a.Extension, r4.Extension{URL: timingOfR5, ValueTiming: how})
	}
	for _, who := range c.performers(m.n) {
		if actor := who.as("Practitioner", "PractitionerRole", "Patient", "RelatedPerson", "Device"); actor != nil {
			a.Performer = append(a.Performer, r4.AdministrationPerformer{Actor: actor})
		}
	}
	d := m.dosage
	given := r4.AdministrationDosage{Text: firstOf(d.Text, d.PatientInstruction), Site: d.Site, Route: d.Route, Method: d.Method}
	if len(d.DoseAndRate) > 0 {
		given.Dose, given.RateRatio, given.RateQuantity = d.DoseAndRate[0].DoseQuantity, d.DoseAndRate[0].RateRatio, d.DoseAndRate[0].RateQuantity
	}
	if given.Dose != nil || given.RateRatio != nil || given.RateQuantity != nil {
		a.Dosage = &given
		return a
	}
	if given.Text != "" { // mad-1: no dosage without a dose or rate
		a.Note = append(a.Note, r4.Annotation{Text: given.Text})
	}
	a.Tag(codings(listed(given.Route, given.Site, given.Method))...)
	return a
}

// administrationStatus is the status of what has been given: what a list calls active is going on.
func administrationStatus(m activity) string {
	switch {
	case isTrue(m.n.attr("negationInd")):
		return "not-done"
	case m.status == "active":
		return "in-progress"
	}
	return m.status
}
