package ccda

import "recordbridge/shared/fhir/ccda/r4"

const (
	absentExtension = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
	absentSystem    = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
)

// absentReason is the reason of FHIR for a nullFlavor (ConceptMap of "C-CDA on FHIR" for NullFlavor); "unknown" when there is none.
func absentReason(n *node) string {
	switch n.attr("nullFlavor") {
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

// absent is what stands beside a required primitive whose value is missing.
func absent(n *node) *r4.Element {
	return &r4.Element{Extension: []r4.Extension{{URL: absentExtension, ValueCode: absentReason(n)}}}
}

// absentConcept is a required or expected concept that is missing, as US Core asks for it ("Missing Data").
func absentConcept(n *node) *r4.CodeableConcept {
	return &r4.CodeableConcept{Coding: []r4.Coding{{System: absentSystem, Code: absentReason(n), Display: absentDisplay(absentReason(n))}}}
}

func absentDisplay(code string) string {
	return lookup(`
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
