package ihe

import "strings"

// maxComponents is the number of components of a CX (HL7 v2.5, 2.A.14).
const maxComponents = 10

// parseCX parses a patient id: ID^^^&authority&ISO (IHE ITI TF-3, table 4.2.3.1.7-2; HL7 v2.5, 2.A.14). It retains the
// id and the universal id of its authority, which together identify a patient, and ignores check digits, the
// authority's name, the identifier type, the facility and dates. A CX with repetitions, escapes or subcomponents in its
// id is refused, because other software could take it for a different patient's.
func parseCX(text string) (patient local, ok bool) {
	if strings.ContainsAny(text, `~\`) {
		return local{}, false
	}
	components := strings.Split(text, "^")
	if len(components) < 4 || len(components) > maxComponents {
		return local{}, false
	}
	authority := strings.Split(components[3], "&")
	if len(authority) < 2 || len(authority) > 3 {
		return local{}, false
	}
	if len(authority) == 3 && authority[2] != "" && !strings.EqualFold(authority[2], "ISO") {
		return local{}, false
	}
	patient = local{Home: "", Root: id(authority[1]).oid(), Extension: components[0]}
	return patient, patient.valid()
}
