package ccda

import (
	"errors"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// ErrSubject reports a document about a person other than the Set's, or one that does not identify its subject well
// enough. Its text contains nothing of the document.
var ErrSubject = errors.New("ccda: a document about another person")

// isAbout reports whether a document says of each of its patients (recordTarget, of which C-CDA wants one) a name and a
// whole birth date that are the person's. Of several names one is enough: a former one, or one in another script, is
// the person's as well.
func isAbout(document *cda.Node, is func(given, family, birthDate, sex string) bool) bool {
	patients := 0
	for target := range document.Each("recordTarget") {
		patients++
		if !isOf(target.At("patientRole", "patient"), is) {
			return false
		}
	}
	return patients > 0
}

func isOf(patient *cda.Node, is func(given, family, birthDate, sex string) bool) bool {
	born := patient.At("birthTime").Attr("value")
	if len(born) < len("20060102") {
		return false
	}
	born = born[:4] + "-" + born[4:6] + "-" + born[6:8]
	for name := range patient.Each("name") {
		var given []string
		for part := range name.Each("given") {
			given = append(given, part.Words())
		}
		if is(
			strings.Join(given, " "), name.At("family").Words(), born,
			patient.At("administrativeGenderCode").Attr("code"),
		) {
			return true
		}
	}
	return false
}
