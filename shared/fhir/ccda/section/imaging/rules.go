// Package imaging converts the sections of a Diagnostic Imaging Report (2.16.840.1.113883.10.20.22.1.5) to
// ImagingStudies and Observations.
//
// C-CDA on FHIR does not cover these sections, so the rules follow DICOM PS3.20 and FHIR R4
// (imagingstudy-mappings.html).
package imaging

import (
	"recordbridge/shared/fhir/ccda/docref"
	"recordbridge/shared/fhir/ccda/statement"
)

// Rules returns the rules for the section's templates.
func Rules() statement.RuleSet {
	return statement.RuleSet{Folder: "section/imaging", Sections: sections(), Entries: entries()}
}

const (
	studyRoot  = "2.16.840.1.113883.10.20.6.2.6"
	seriesRoot = "2.16.840.1.113883.10.20.22.4.63"
	objectRoot = "2.16.840.1.113883.10.20.6.2.8"
	dicomURI   = "http://dicom.nema.org/resources/ontology/DCM"
)

func sections() []statement.Section {
	observed := []statement.Assumption{{Element: "observation", Root: imagingTextRoot}}
	return []statement.Section{
		{
			Codes: []string{"121181"}, Roots: []string{"2.16.840.1.113883.10.20.6.1.1"}, Name: "DICOM Object Catalog",
			Assume: []statement.Assumption{{Element: "act", Root: studyRoot}},
		},
		{
			Codes: []string{"121070"}, Roots: []string{"2.16.840.1.113883.10.20.6.1.2"}, Name: "Findings",
			Titles: []string{"findings"},
			Assume: observed, Narrative: docref.OfWords,
		},
		{
			Codes: []string{
				"121072", "19005-8", "55110-1", "121076", "121074", "121060", "121109", "121062", "18785-6", "55115-0",
				"55111-9", "18834-2",
			},
			Name:   "Imaging Impressions",
			Titles: []string{"impressions", "impression", "conclusions", "indications for procedure"}, Assume: observed,
			Narrative: docref.OfWords,
		},
	}
}

const imagingTextRoot = "2.16.840.1.113883.10.20.6.2.12"

func entries() []statement.Entry {
	listed := &images{}
	return []statement.Entry{
		{Roots: []string{studyRoot}, Name: "Study Act", Target: "ImagingStudy", Convert: study},
		{
			Roots: []string{objectRoot}, Name: "SOP Instance Observation", Target: "ImagingStudy.series.instance",
			Convert: listed.convert,
		},
		{
			Roots: []string{imagingTextRoot}, Name: "Text Observation", Target: "Observation",
			Convert: imagingObservation,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.6.2.13"}, Name: "Code Observations", Target: "Observation",
			Convert: imagingObservation,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.6.2.14"}, Name: "Quantity Measurement Observation",
			Target: "Observation", Convert: imagingObservation,
		},
		{
			Roots: []string{"2.16.840.1.113883.10.20.6.2.5"}, Name: "Procedure Context", Target: "Procedure",
			Convert: imagingProcedure,
		},
	}
}
