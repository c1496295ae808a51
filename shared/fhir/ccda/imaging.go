package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

const (
	studyRoot  = "2.16.840.1.113883.10.20.6.2.6"
	seriesRoot = "2.16.840.1.113883.10.20.22.4.63"
	objectRoot = "2.16.840.1.113883.10.20.6.2.8"
	dicomURI   = "http://dicom.nema.org/resources/ontology/DCM"
)

// imagingSections are those of Diagnostic Imaging Report, whose codes are DICOM's.
func imagingSections() []sectionRule {
	const file = "imaging.go"
	observed := []assumption{{"observation", "", imagingTextRoot}}
	return []sectionRule{
		{
			codes: []string{"121181"}, roots: []string{"2.16.840.1.113883.10.20.6.1.1"}, name: "DICOM Object Catalog", file: file,
			assume: []assumption{{"act", "", studyRoot}},
		},
		{
			codes: []string{"121070"}, roots: []string{"2.16.840.1.113883.10.20.6.1.2"}, name: "Findings", titles: []string{"findings"},
			file: file, assume: observed, narrative: (*converter).noteOfWords,
		},
		{
			codes: []string{"121072", "19005-8", "55110-1", "121076", "121074", "121060", "121109", "121062", "18785-6", "55115-0", "55111-9", "18834-2"},
			name:  "Imaging Impressions", titles: []string{"impressions", "impression", "conclusions", "indications for procedure"}, file: file, assume: observed,
			narrative: (*converter).noteOfWords,
		},
	}
}

const imagingTextRoot = "2.16.840.1.113883.10.20.6.2.12"

func imagingEntries() []entryRule {
	const file = "imaging.go"
	listed := &images{}
	return []entryRule{
		{roots: []string{studyRoot}, name: "Study Act", target: "ImagingStudy", file: file, convert: (*converter).study},
		{roots: []string{objectRoot}, name: "SOP Instance Observation", target: "ImagingStudy.series.instance", file: file, convert: listed.convert},
		{roots: []string{imagingTextRoot}, name: "Text Observation", target: "Observation", file: file, convert: (*converter).imagingObservation},
		{roots: []string{"2.16.840.1.113883.10.20.6.2.13"}, name: "Code Observations", target: "Observation", file: file, convert: (*converter).imagingObservation},
		{roots: []string{"2.16.840.1.113883.10.20.6.2.14"}, name: "Quantity Measurement Observation", target: "Observation", file: file, convert: (*converter).imagingObservation},
		{roots: []string{"2.16.840.1.113883.10.20.6.2.5"}, name: "Procedure Context", target: "Procedure", file: file, convert: (*converter).imagingProcedure},
	}
}

// study makes an ImagingStudy of a study act with its series and their objects (DICOM PS3.20; FHIR imagingstudy-mappings).
func (c *converter) study(n *node) {
	s := &r4.ImagingStudy{
		Header: c.headerWith("ImagingStudy", derive(c.salt, "ImagingStudy", firstOf(dicomUID(n), c.key+digest(n)))), Status: "available", Subject: c.patient, Encounter: c.encounter,
		Started: c.start(n.at("effectiveTime")), Description: c.text(n.at("text")),
	}
	if uid := dicomUID(n); uid != "" {
		s.Identifier = []r4.Identifier{{System: "urn:dicom:uid", Value: "urn:oid:" + uid}}
	}
	told := []*node{n}
	for rel := range n.each("entryRelationship") {
		for act := range rel.each("act") {
			if dicomUID(act) == "" || !isTemplate(act, seriesRoot) && !has(act.at("code"), "113015") {
				continue
			}
			series, objects := c.series(act)
			s.Series = append(s.Series, series)
			s.Modality = r4.AppendNew(s.Modality, *series.Modality)
			told = append(append(told, act), objects...)
			for _, object := range objects {
				if url := object.at("text", "reference").attr("value"); url != "" {
					s.Note = append(s.Note, r4.Annotation{Text: url})
				}
			}
		}
	}
	c.add(s, told...)
}

// series reads a series act. Its modality, which FHIR requires, is a qualifier of its code.
func (c *converter) series(act *node) (r4.ImagingSeries, []*node) {
	s := r4.ImagingSeries{UID: dicomUID(act), Description: c.text(act.at("text")), Started: c.start(act.at("effectiveTime"))}
	for q := range act.at("code").each("qualifier") {
		if code, ok := coding(q.at("value")); ok && has(q.at("name"), "121139") {
			s.Modality = &code
		}
	}
	if s.Modality == nil {
		s.Modality = &r4.Coding{System: dicomURI, Code: "OT", Display: "Other"}
	}
	var objects []*node
	for rel := range act.each("entryRelationship") {
		for o := range rel.each("observation") {
			if uid := dicomUID(o); uid != "" {
				class := codeOf(o.at("code"))
				s.Instance = append(s.Instance, r4.ImagingInstance{
					UID: uid, SOPClass: &r4.Coding{System: uriSystem, Code: "urn:oid:" + class, Display: o.at("code").attr("displayName")},
				})
				objects = append(objects, o)
			}
		}
	}
	return s, objects
}

// dicomUID gives the UID of a study, series or object: its id, as a whole OID. FHIR takes up to 64 characters, as DICOM does.
func dicomUID(n *node) string {
	root := n.at("id").attr("root")
	if extension := n.at("id").attr("extension"); extension != "" && strings.Trim(extension, ".0123456789") == "" {
		root += "." + extension
	}
	if !isOID(root) || len(root) > 64 {
		return ""
	}
	return root
}

// images are the objects that the studies of a document list.
type images struct {
	byUID map[string]*node // nil until they are asked for
}

// convert takes an object outside its series: what is told around it is derived from its study.
func (all *images) convert(c *converter, n *node) {
	listed := all.of(c.document)[dicomUID(n)]
	if listed == nil {
		return
	}
	c.take(n)
	if object := c.toldBy(listed); object != nil {
		c.tell(n, object)
	}
	c.later = append(c.later, func() {
		about := outer(n)
		for about != nil && c.toldBy(about) == nil {
			about = outer(about)
		}
		if o := resourceOf[r4.Observation](c, c.reference(about)); o != nil && c.toldBy(listed) != nil {
			o.DerivedFrom = appendReference(o.DerivedFrom, *c.reference(listed))
		}
	})
}

// of gives the objects by their UIDs.
func (all *images) of(document *node) map[string]*node {
	if all.byUID != nil {
		return all.byUID
	}
	all.byUID = map[string]*node{}
	for study := range document.descendants() {
		if !isTemplate(study, studyRoot) {
			continue
		}
		for o := range study.descendants() {
			if uid := dicomUID(o); o.name == "observation" && uid != "" {
				all.byUID[uid] = o
			}
		}
	}
	return all.byUID
}

func (c *converter) imagingObservation(n *node) {
	o := c.observation(n)
	o.Category = []r4.CodeableConcept{*one("http://terminology.hl7.org/CodeSystem/observation-category", "imaging", "Imaging")}
	if around := c.reference(outer(n)); around != nil {
		o.Focus = []r4.Reference{*around}
	}
	c.add(o, n)
}

// imagingProcedure takes what the report says has been done.
func (c *converter) imagingProcedure(n *node) {
	c.convertBy(procedureActRoot, n)
}
