package ihe

import "strings"

// maxComponents is the maximum number of components in a CX (HL7 v2.5, 2.A.14).
const maxComponents = 10

// parseCX parses a patient ID of the form ID^^^&authority&ISO (IHE ITI TF-3, table 4.2.3.1.7-2; HL7 v2.5, 2.A.14). It
// returns the ID and its authority's universal ID, which together identify a patient. Other components, such as check
// digits and dates, are ignored. An ID with repetitions, escapes or subcomponents is rejected, because other software
// might read it as another patient's ID.
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
