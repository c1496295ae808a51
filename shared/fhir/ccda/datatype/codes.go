package datatype

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

const USCore = "http://hl7.org/fhir/us/core/StructureDefinition/"

// Gender maps AdministrativeGender (C-CDA on FHIR, "Patient": gender); "" when it is not said.
func Gender(n *cda.Node) string {
	switch strings.ToUpper(cmp.Or(cda.CodeOf(n), n.Attr("displayName"))) {
	case "M", "MALE", "248153007":
		return "male"
	case "F", "FEMALE", "248152002":
		return "female"
	case "UN", "UNDIFFERENTIATED", "OTH":
		return "other"
	case "UNK":
		return "unknown"
	}
	return ""
}
