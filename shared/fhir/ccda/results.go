package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// resultSections is the section whose entries are results of laboratories, imaging and other tests.
func resultSections() []sectionRule {
	return []sectionRule{*resultSection()}
}

func resultSection() *sectionRule {
	return &sectionRule{
		codes: []string{"30954-2", "26436-6", "18725-2", "18719-5", "18723-7"}, name: "Results", file: "results.go",
		titles: []string{"results", "lab results", "laboratory results", "diagnostic results", "test results", "relevant diagnostic tests and/or laboratory data"},
		roots: []string{
			"2.16.840.1.113883.10.20.22.2.3", "2.16.840.1.113883.10.20.1.14", "1.3.6.1.4.1.19376.1.5.3.1.3.27",
			"1.3.6.1.4.1.19376.1.5.3.1.3.28", "2.16.840.1.113883.3.88.11.83.122",
		},
		assume: []assumption{
			{"organizer", "", "2.16.840.1.113883.10.20.22.4.1"},
			{"observation", "", "2.16.840.1.113883.10.20.22.4.2"},
		},
		shared: []string{"1.3.6.1.4.1.19376.1.5.3.1.4.13"},
	}
}

func resultEntries() []entryRule {
	return []entryRule{
		{
			roots: []string{"2.16.840.1.113883.10.20.22.4.1", "2.16.840.1.113883.10.20.1.32", "1.3.6.1.4.1.19376.1.3.1.4"},
			name:  "Result Organizer", target: "DiagnosticReport, Observation (in another organizer)", file: "results.go", convert: (*converter).resultOrganizer,
		},
		{
			roots: []string{
				"2.16.840.1.113883.10.20.22.4.2", "2.16.840.1.113883.10.20.1.31", "2.16.840.1.113883.3.88.11.83.15", "2.16.840.1.113883.3.88.11.83.15.1",
				"1.3.6.1.4.1.19376.1.3.1.6",
			},
			name: "Result Observation", target: "Observation", file: "results.go", convert: (*converter).result,
		},
		{
			roots: []string{specimenCollectionRoot}, name: "Specimen Collection Procedure",
			target: "Specimen", file: "specimens.go", convert: (*converter).collected,
		},
	}
}

// resultOrganizer makes a DiagnosticReport of an organizer (C-CDA on FHIR, "Results"), and a panel of one in another.
func (c *converter) resultOrganizer(n *node) {
	if around := outer(n); around != nil && around.name == "organizer" {
		o := c.panel(n, resultSection(), kindOf(n).category())
		o.Specimen = firstReference(c.specimens(n)...)
		c.add(o, n)
		return
	}
	kind := kindOf(n)
	r := &r4.DiagnosticReport{
		Header: c.header("DiagnosticReport", n), Identifier: identifiers(n), Status: observationStatus(n), Category: []r4.CodeableConcept{*kind.service()},
		Code: c.conceptOr(n.at("code")), Subject: c.patient, Performer: c.responsible(n), Specimen: listed(c.specimens(n)...),
		Issued: c.issued(n.at("author", "time")),
	}
	for member := range members(n) {
		ref := c.member(member, resultSection())
		switch {
		case ref == nil:
		case strings.HasPrefix(ref.Reference, "Observation/"):
			r.Result = appendReference(r.Result, *ref)
		case strings.HasPrefix(ref.Reference, "Specimen/"):
			r.Specimen = appendReference(r.Specimen, *ref)
		}
		r.PresentedForm = append(r.PresentedForm, c.files(member)...)
	}
	if r.Effective, r.EffectivePeriod = c.effective(n.at("effectiveTime")); r.Effective == "" && r.EffectivePeriod == nil {
		r.Effective, r.EffectivePeriod = c.spanOf(n)
	}
	var words []string
	for _, note := range c.comments(n) {
		words = append(words, note.Text)
	}
	r.Conclusion = strings.Join(words, "\n")
	c.add(r, n)
}

// responsible gives who performed a statement and who wrote it down.
func (c *converter) responsible(n *node) []r4.Reference {
	var list []r4.Reference
	for _, who := range append(c.performers(n), c.ownAuthor(n)) {
		if p := who.as("Practitioner", "PractitionerRole", "Organization"); p != nil {
			list = appendReference(list, *p)
		}
	}
	return list
}

// result makes an Observation of a result (C-CDA on FHIR, "Results"). A file as its value is presented with the report around
// it, or is a document that the Observation is from.
func (c *converter) result(n *node) {
	if mood := n.attr("moodCode"); mood != "" && mood != "EVN" {
		c.yetToDo(n)
		return
	}
	o := c.observed(n, kindOf(n).category())
	o.Specimen = firstReference(append(c.specimens(n), c.specimens(outer(n))...)...)
	for r := range n.each("entryRelationship") {
		for inner := range r.each("observation") {
			if ref := c.part(inner); ref != nil {
				o.HasMember = appendReference(o.HasMember, *ref)
			}
		}
	}
	if forms := c.files(n); forms != nil && (outer(n) == nil || outer(n).name != "organizer") {
		o.DerivedFrom = []r4.Reference{*c.addDocument(n, forms)}
	}
	setAbsent(o, n.at("value"))
	c.add(o, n)
}

// part converts an observation in a result by its own template, or as a result, and gives a reference to it.
func (c *converter) part(n *node) *r4.Reference {
	if ref := c.member(n, resultSection()); ref != nil && strings.HasPrefix(ref.Reference, "Observation/") {
		return ref
	}
	return nil
}

// files gives the values of an observation that are files.
func (c *converter) files(n *node) []r4.Attachment {
	var list []r4.Attachment
	for value := range n.each("value") {
		if isFile(value) {
			c.take(value)
			list = append(list, r4.Attachment{ContentType: value.attr("mediaType"), Data: bytesOf(value)})
		}
	}
	return list
}

// addDocument makes a DocumentReference of the files that are the value of an observation.
func (c *converter) addDocument(n *node, forms []r4.Attachment) *r4.Reference {
	d := &r4.DocumentReference{Header: c.header("DocumentReference", n), Status: "current", Type: c.conceptOr(n.at("code")), Subject: c.patient}
	d.Category = []r4.CodeableConcept{*one("http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note", "Clinical Note")}
	d.Date = c.instant(n.at("effectiveTime"))
	for i := range forms {
		d.Content = append(d.Content, r4.DocumentContent{Attachment: &forms[i]})
	}
	return c.addEntity(d)
}

// resultKind is the kind of test that a result is of: FHIR's category of the Observation and of the report differ by it.
type resultKind int

const (
	laboratory resultKind = iota
	imaging
	cardiology
)

// kindOf tells laboratory results from others by the code, where its system sorts tests, and by how LOINC names images. All
// else counts as laboratory, as most results are (C-CDA on FHIR, "Results": category).
func kindOf(n *node) resultKind {
	for code := range n.at("code").descendants() {
		value := code.attr("code")
		switch code.attr("codeSystem") {
		case "2.16.840.1.113883.6.12": // CPT: radiology, cardiography and echocardiography
			switch {
			case len(value) == 5 && value >= "70010" && value <= "79999":
				return imaging
			case len(value) == 5 && value >= "93000" && value <= "93355":
				return cardiology
			}
		case "2.16.840.1.113883.6.1":
			modality, _, _ := strings.Cut(code.attr("displayName"), " ")
			if isOneOf(modality, "XR", "CT", "MR", "MRI", "US", "MG", "NM", "PET", "DXA", "RF", "XA") {
				return imaging
			}
			if modality == "EKG" || modality == "ECG" {
				return cardiology
			}
		}
	}
	return laboratory
}

// category is that of an Observation (observation-category).
func (k resultKind) category() *r4.CodeableConcept {
	switch k {
	case imaging:
		return one(observationCategory, "imaging", "Imaging")
	case cardiology:
		return one(observationCategory, "procedure", "Procedure")
	case laboratory:
	}
	return one(observationCategory, "laboratory", "Laboratory")
}

// service is the category of a DiagnosticReport (US Core DiagnosticReport profiles).
func (k resultKind) service() *r4.CodeableConcept {
	switch k {
	case imaging:
		return one(loinc, "LP29684-5", "Radiology")
	case cardiology:
		return one(loinc, "LP29708-2", "Cardiology")
	case laboratory:
	}
	return one("http://terminology.hl7.org/CodeSystem/v2-0074", "LAB", "Laboratory")
}
