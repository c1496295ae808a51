package datatype

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

const USCore = "http://hl7.org/fhir/us/core/StructureDefinition/"

// Gender maps AdministrativeGender (C-CDA on FHIR, "Patient": gender); "" when it is not said.
func Gender(n *cda.Node) string {
	return genders.Of(strings.ToUpper(cmp.Or(cda.CodeOf(n), n.Attr("displayName"))))
}
