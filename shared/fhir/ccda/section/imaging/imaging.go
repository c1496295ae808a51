package imaging

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/datatype"
	"recordbridge/shared/fhir/ccda/emit"
	"recordbridge/shared/fhir/ccda/observation"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/statement"
	"recordbridge/shared/fhir/ccda/terms"
)

// study creates an ImagingStudy for a study act, with the study's series and objects (DICOM PS3.20; FHIR
// imagingstudy-mappings).
func study(c *statement.Context, n *cda.Node) {
	s := &r4.ImagingStudy{
		Header: c.Emit.HeaderWith(
			"ImagingStudy", emit.Derive(c.Emit.Salt, "ImagingStudy", cmp.Or(dicomUID(n), c.Emit.Key+cda.Digest(n))),
		),
		Status: "available", Subject: c.Patient, Encounter: c.Encounter,
		Started: c.Read.Start(n.At("effectiveTime")), Description: c.Read.Text(n.At("text")),
	}
	if uid := dicomUID(n); uid != "" {
		s.Identifier = []r4.Identifier{{System: "urn:dicom:uid", Value: "urn:oid:" + uid}}
	}
	told := []*cda.Node{n}
	for rel := range n.Each("entryRelationship") {
		for act := range rel.Each("act") {
			if dicomUID(act) == "" || !cda.IsTemplate(act, seriesRoot) && !cda.Has(act.At("code"), "113015") {
				continue
			}
			series, objects := series(c, act)
			s.Series = append(s.Series, series)
			s.Modality = r4.AppendNew(s.Modality, *series.Modality)
			told = append(append(told, act), objects...)
			for _, object := range objects {
				if url := object.At("text", "reference").Attr("value"); url != "" {
					s.Note = append(s.Note, r4.Annotation{Text: url})
				}
			}
		}
	}
	c.Add(s, told...)
}

// series converts a series act. FHIR requires the modality. It is taken from a qualifier of the act's code.
func series(c *statement.Context, act *cda.Node) (r4.ImagingSeries, []*cda.Node) {
	s := r4.ImagingSeries{
		UID: dicomUID(act), Description: c.Read.Text(act.At("text")), Started: c.Read.Start(act.At("effectiveTime")),
	}
	for q := range act.At("code").Each("qualifier") {
		if code, ok := datatype.Coding(q.At("value")); ok && cda.Has(q.At("name"), "121139") {
			s.Modality = &code
		}
	}
	if s.Modality == nil {
		s.Modality = &r4.Coding{System: dicomURI, Code: "OT", Display: "Other"}
	}
	var objects []*cda.Node
	for rel := range act.Each("entryRelationship") {
		for o := range rel.Each("observation") {
			if uid := dicomUID(o); uid != "" {
				class := cda.CodeOf(o.At("code"))
				s.Instance = append(s.Instance, r4.ImagingInstance{
					UID: uid,
					SOPClass: &r4.Coding{
						System: datatype.URISystem, Code: "urn:oid:" + class, Display: o.At("code").Attr("displayName"),
					},
				})
				objects = append(objects, o)
			}
		}
	}
	return s, objects
}

// dicomUID returns the UID of a study, series or object, which is the element's id if it is an OID. FHIR and DICOM
// allow UIDs of up to 64 characters.
func dicomUID(n *cda.Node) string {
	root := n.At("id").Attr("root")
	if extension := n.At("id").Attr("extension"); extension != "" && strings.Trim(extension, ".0123456789") == "" {
		root += "." + extension
	}
	if !terms.IsOID(root) || len(root) > 64 {
		return ""
	}
	return root
}

type images struct {
	byUID map[string]int32 // statement numbers, by DICOM UID; nil until needed
}

// convert converts a DICOM object that is not nested in its series. The enclosing Observation refers to the object's
// study (derivedFrom).
func (all *images) convert(c *statement.Context, n *cda.Node) {
	number, isListed := all.of(c.Document.Root)[dicomUID(n)]
	if !isListed {
		return
	}
	listed := c.Document.Node(number)
	c.Emit.Take(n)
	if when := n.At("effectiveTime"); when.Attr("value") != "" &&
		when.Attr("value") == listed.At("effectiveTime").Attr("value") {
		c.Emit.Take(when)
	}
	if object := c.Emit.Fact(listed); object != nil {
		c.Emit.SetFact(n, object)
	}
	c.Emit.Afterwards(n, func(n *cda.Node) {
		about := cda.Outer(n)
		for about != nil && c.Emit.Fact(about) == nil {
			about = cda.Outer(about)
		}
		if o := emit.ResourceOf[r4.Observation](c.Emit, c.Emit.Reference(about)); o != nil &&
			c.Emit.HasFact(number) {
			o.DerivedFrom = r4.AppendReference(o.DerivedFrom, *c.Emit.Reference(c.Document.Node(number)))
		}
	})
}

// of returns the statement numbers of a document's DICOM objects, keyed by UID.
func (all *images) of(document *cda.Node) map[string]int32 {
	if all.byUID != nil {
		return all.byUID
	}
	all.byUID = map[string]int32{}
	for study := range document.Descendants() {
		if !cda.IsTemplate(study, studyRoot) {
			continue
		}
		for o := range study.Descendants() {
			if uid := dicomUID(o); o.Name == "observation" && uid != "" {
				all.byUID[uid] = o.Number
			}
		}
	}
	return all.byUID
}

func imagingObservation(c *statement.Context, n *cda.Node) {
	o := observation.New(c, n)
	o.Category = []r4.CodeableConcept{
		*r4.Concept("http://terminology.hl7.org/CodeSystem/observation-category", "imaging", "Imaging"),
	}
	if around := c.Emit.Reference(cda.Outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	c.Add(o, n)
}

// imagingProcedure converts a procedure that the report describes as performed.
func imagingProcedure(c *statement.Context, n *cda.Node) {
	c.Rules.ConvertBy(statement.ProcedureActRoot, n)
}
