package results

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
	"recordbridge/shared/fhir/ccda/terms"
)

// resultOrganizer creates a DiagnosticReport for an organizer (C-CDA on FHIR, "Results"). A nested organizer becomes a
// panel.
func resultOrganizer(c *statement.Context, n *cda.Node) {
	if around := cda.Outer(n); around != nil && around.Name == "organizer" {
		o := observation.Panel(c, n, resultSection(), kindOf(n).category())
		o.Specimen = cmp.Or(c.Make.Specimens(n)...)
		c.Add(o, n)
		return
	}
	kind := kindOf(n)
	r := &r4.DiagnosticReport{
		Header: c.Emit.Header("DiagnosticReport", n), Identifier: datatype.Identifiers(n),
		Status: observation.StatusOf(n), Category: []r4.CodeableConcept{*kind.service()},
		Code: c.Read.ConceptOr(n.At("code")), Subject: c.Patient, Performer: responsible(c, n),
		Specimen: r4.Listed(c.Make.Specimens(n)...),
		Issued:   c.Read.Issued(n.At("author", "time")),
	}
	for member := range cda.Members(n) {
		ref := c.Rules.Member(member, resultSection())
		switch {
		case ref == nil:
		case strings.HasPrefix(ref.Reference, "Observation/"):
			r.Result = r4.AppendReference(r.Result, *ref)
		case strings.HasPrefix(ref.Reference, "Specimen/"):
			r.Specimen = r4.AppendReference(r.Specimen, *ref)
		}
		r.PresentedForm = append(r.PresentedForm, files(c, member)...)
	}
	if r.Effective, r.EffectivePeriod = c.Read.Effective(n.At("effectiveTime")); r.Effective == "" &&
		r.EffectivePeriod == nil {
		r.Effective, r.EffectivePeriod = observation.SpanOf(c, n)
	}
	var words []string
	for _, note := range c.Comments(n) {
		words = append(words, note.Text)
	}
	r.Conclusion = strings.Join(words, "\n")
	c.Add(r, n)
}

// responsible returns references to a statement's performers. Only the Provenance names the author (C-CDA on FHIR,
// "Results": author).
func responsible(c *statement.Context, n *cda.Node) []r4.Reference {
	var list []r4.Reference
	for _, who := range c.Make.Performers(n) {
		if p := who.As("Practitioner", "PractitionerRole", "Organization"); p != nil {
			list = r4.AppendReference(list, *p)
		}
	}
	return list
}

// result creates an Observation for a result (C-CDA on FHIR, "Results"). A value that is a file becomes part of the
// enclosing report or, if there is none, a document from which the Observation is derived.
func result(c *statement.Context, n *cda.Node) {
	if mood := n.Attr("moodCode"); mood != "" && mood != "EVN" {
		observation.YetToDo(c, n)
		return
	}
	o := observation.NewIn(c, n, kindOf(n).category())
	o.Specimen = cmp.Or(append(c.Make.Specimens(n), c.Make.Specimens(cda.Outer(n))...)...)
	for r := range n.Each("entryRelationship") {
		for inner := range r.Each("observation") {
			if ref := part(c, inner); ref != nil {
				o.HasMember = r4.AppendReference(o.HasMember, *ref)
			}
		}
	}
	if forms := files(c, n); forms != nil && (cda.Outer(n) == nil || cda.Outer(n).Name != "organizer") {
		o.DerivedFrom = []r4.Reference{*addDocument(c, n, forms)}
	}
	observation.SetAbsent(o, n.At("value"))
	c.Add(o, n)
}

// part converts an observation nested in a result by its own template, and returns a reference to the resource. If the
// observation has no template, it describes the result and is not a laboratory finding, so it becomes a generic fact.
func part(c *statement.Context, n *cda.Node) *r4.Reference {
	if ref := c.Rules.Member(n, nil); ref != nil && strings.HasPrefix(ref.Reference, "Observation/") {
		return ref
	}
	return nil
}

// files returns the values of an observation that are files.
func files(c *statement.Context, n *cda.Node) []r4.Attachment {
	var list []r4.Attachment
	if cda.IsNegated(n) {
		return nil
	}
	for value := range n.Each("value") {
		if datatype.IsFile(value) {
			c.Emit.Take(value)
			file := r4.Attachment{ContentType: value.Attr("mediaType")}
			c.Read.Attach(&file, value)
			list = append(list, file)
		}
	}
	return list
}

// addDocument creates a DocumentReference for the files in an observation's value.
func addDocument(c *statement.Context, n *cda.Node, forms []r4.Attachment) *r4.Reference {
	d := &r4.DocumentReference{
		Header: c.Emit.Header("DocumentReference", n), Status: "current", Type: c.Read.ConceptOr(n.At("code")),
		Subject: c.Patient,
	}
	d.Category = []r4.CodeableConcept{
		*r4.Concept(
			"http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note",
			"Clinical Note",
		),
	}
	d.Date = c.Read.Instant(n.At("effectiveTime"))
	for i := range forms {
		d.Content = append(d.Content, r4.DocumentContent{Attachment: &forms[i]})
	}
	return c.Emit.AddEntity(d)
}

// resultKind is the kind of test that produced a result. The kind determines the category of the Observation and the
// report.
type resultKind int

const (
	laboratory resultKind = iota
	imaging
	cardiology
)

// kindOf derives a result's kind from code systems that classify tests, and from LOINC's names for imaging. Results
// that match no other category count as laboratory results, because most are (C-CDA on FHIR, "Results": category).
func kindOf(n *cda.Node) resultKind {
	for code := range n.At("code").Descendants() {
		value := code.Attr("code")
		switch code.Attr("codeSystem") {
		case "2.16.840.1.113883.6.12": // CPT: radiology, cardiography and echocardiography
			switch {
			case len(value) == 5 && value >= "70010" && value <= "79999":
				return imaging
			case len(value) == 5 && value >= "93000" && value <= "93355":
				return cardiology
			}
		case "2.16.840.1.113883.6.1":
			modality, _, _ := strings.Cut(code.Attr("displayName"), " ")
			if cda.IsOneOf(modality, "XR", "CT", "MR", "MRI", "US", "MG", "NM", "PET", "DXA", "RF", "XA") {
				return imaging
			}
			if modality == "EKG" || modality == "ECG" {
				return cardiology
			}
		}
	}
	return laboratory
}

// category returns an Observation's category (observation-category).
func (k resultKind) category() *r4.CodeableConcept {
	switch k {
	case imaging:
		return r4.Concept(observation.Category, "imaging", "Imaging")
	case cardiology:
		return r4.Concept(observation.Category, "procedure", "Procedure")
	case laboratory:
	}
	return r4.Concept(observation.Category, "laboratory", "Laboratory")
}

// service returns a DiagnosticReport's category (US Core DiagnosticReport profiles).
func (k resultKind) service() *r4.CodeableConcept {
	switch k {
	case imaging:
		return r4.Concept(terms.LOINC, "LP29684-5", "Radiology")
	case cardiology:
		return r4.Concept(terms.LOINC, "LP29708-2", "Cardiology")
	case laboratory:
	}
	return r4.Concept("http://terminology.hl7.org/CodeSystem/v2-0074", "LAB", "Laboratory")
}
