package datatype

import (
	"cmp"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// USCore is the URL prefix of US Core's extensions.
const USCore = "http://hl7.org/fhir/us/core/StructureDefinition/"

// Gender returns the administrative-gender for a code, or "" for an unknown code.
func Gender(n *cda.Node) string {
	return genders.Of(strings.ToUpper(cmp.Or(cda.CodeOf(n), n.Attr("displayName"))))
}
