package ccda

import (
	"errors"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
)

// ErrSubject means that a document is about a person other than the Set's person or doesn't identify its subject well
// enough. The error's text contains no part of the document.
var ErrSubject = errors.New("ccda: a document about another person")

// isAbout reports whether every patient in a document matches the person. C-CDA requires one patient (recordTarget).
// Each patient must have a matching name and a matching, complete birth date. One matching name is enough, because
// people have former names and names in other scripts.
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
