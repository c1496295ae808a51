package ihe

import "strings"

// maxComponents is the number of components of a CX (HL7 v2.5, 2.A.14).
const maxComponents = 10

// parseCX reads a patient id: ID^^^&authority&ISO (IHE ITI TF-3, table 4.2.3.1.7-2; HL7 v2.5, 2.A.14). Only the id and the universal id of
// its authority are kept, which together name a patient. Check digits, the authority's name, the type of the id, facility and dates say nothing more.
// A CX that repeats, escapes or nests is no patient id: who reads it otherwise could mean somebody else.
func parseCX(text string) (patient local, ok bool) {
	if strings.ContainsAny(text, `~\`) {
		return local{}, false
	}
	components := strings.Split(text, "^")
	if len(components) < 4 || len(components) > maxComponents {
		return local{}, false
	}
	authority := strings.Split(components[3], "&")
	if len(authority) < 2 || len(authority) > 3 || len(authority) == 3 && authority[2] != "" && !strings.EqualFold(authority[2], "ISO") {
		return local{}, false
	}
	patient = local{Home: "", Root: id(authority[1]).oid(), Extension: components[0]}
	return patient, patient.valid()
}
