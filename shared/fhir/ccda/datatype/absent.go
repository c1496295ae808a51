package datatype

import (
	"cmp"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

const (
	absentExtension = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
	// AbsentSystem is the URL of the code system data-absent-reason.
	AbsentSystem = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
)

// absentReason returns the FHIR data-absent-reason for a nullFlavor (the NullFlavor ConceptMap of "C-CDA on FHIR"). The
// default is "unknown".
func absentReason(n *cda.Node) string {
	return cmp.Or(absentReasons.Of(n.Attr("nullFlavor")), "unknown")
}

// Absent returns the extension for a required primitive that has no value.
func Absent(n *cda.Node) *r4.Element {
	return &r4.Element{Extension: []r4.Extension{{URL: absentExtension, ValueCode: absentReason(n)}}}
}

// AbsentConcept returns a substitute for a missing concept that is required or expected (US Core, "Missing Data").
func AbsentConcept(n *cda.Node) *r4.CodeableConcept {
	return &r4.CodeableConcept{
		Coding: []r4.Coding{{System: AbsentSystem, Code: absentReason(n), Display: absentDisplays.Of(absentReason(n))}},
	}
}

// Unsupported returns the extension for a primitive that has no CDA equivalent, such as primarySource (C-CDA on FHIR,
// "Immunizations").
func Unsupported() *r4.Element {
	return &r4.Element{Extension: []r4.Extension{{URL: absentExtension, ValueCode: "unsupported"}}}
}
