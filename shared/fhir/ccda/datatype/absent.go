package datatype

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

const (
	absentExtension = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
	AbsentSystem    = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
)

// absentReason is the reason of FHIR for a nullFlavor (ConceptMap of "C-CDA on FHIR" for NullFlavor); "unknown" when there is none.
func absentReason(n *cda.Node) string {
	switch n.Attr("nullFlavor") {
	case "ASKU":
		return "asked-unknown"
	case "NAV":
		return "temp-unknown"
	case "NASK":
		return "not-asked"
	case "MSK":
		return "masked"
	case "NA":
		return "not-applicable"
	case "OTH":
		return "unsupported"
	case "NINF":
		return "negative-infinity"
	case "PINF":
		return "positive-infinity"
	case "NP":
		return "not-permitted"
	}
	return "unknown"
}

// Absent is what stands beside a required primitive whose value is missing.
func Absent(n *cda.Node) *r4.Element {
	return &r4.Element{Extension: []r4.Extension{{URL: absentExtension, ValueCode: absentReason(n)}}}
}

// AbsentConcept is a required or expected concept that is missing, as US Core asks for it ("Missing Data").
func AbsentConcept(n *cda.Node) *r4.CodeableConcept {
	return &r4.CodeableConcept{Coding: []r4.Coding{{System: AbsentSystem, Code: absentReason(n), Display: absentDisplay(absentReason(n))}}}
}

func absentDisplay(code string) string {
	return terms.Lookup(`
unknown Unknown
asked-unknown Asked But Unknown
temp-unknown Temporarily Unknown
not-asked Not Asked
masked Masked
not-applicable Not Applicable
unsupported Unsupported
negative-infinity Negative Infinity (NINF)
positive-infinity Positive Infinity (PINF)
not-permitted Not Permitted
`, code)
}
