package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// IsUnnamed reports whether a concept names nothing that the patient has or had: it is unknown, or has a negating text
// such as "No allergy data is applicable".
func IsUnnamed(concept *r4.CodeableConcept) bool {
	return IsUnknown(concept) || len(concept.Coding) == 0 && isDenial(concept.Text)
}

// IsUnknown reports whether a concept names nothing: it is absent, has only an absence reason, or has only words that
// declare it unknown. Words name something as a code does, and a code for an absence names that absence.
func IsUnknown(concept *r4.CodeableConcept) bool {
	if concept == nil {
		return true
	}
	for _, coding := range concept.Coding {
		if coding.System != AbsentSystem && coding.System != nullFlavors && coding.Code != unknownOfSnomed &&
			!isUnknownName(coding.Display) {
			return false
		}
	}
	return concept.Text == "" || isUnknownName(concept.Text) || isDenial(concept.Text) && hasNoData(concept.Text)
}

const (
	nullFlavors     = "http://terminology.hl7.org/CodeSystem/v3-NullFlavor"
	unknownOfSnomed = "261665006" // SNOMED CT, Unknown (qualifier value)
)

// Normalized returns the words of text as a table's key: in lower case, joined by underscores, without surrounding
// punctuation.
func Normalized(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(text, " .:;-*()[]"))), "_")
}

// isUnknownName reports whether a name only says that something is unknown, such as "Unknown problem".
func isUnknownName(text string) bool {
	name := Normalized(text)
	return unknownNames.Of(name) != "" || strings.HasPrefix(name, "unknown") && strings.Count(name, "_") < 2
}

// hasNoData reports whether a negating text means that data is missing, such as "No data recorded".
func hasNoData(text string) bool {
	words := strings.Split(Normalized(text), "_")
	for _, word := range words {
		if word == "data" || word == "information" || word == "info" {
			return true
		}
	}
	return noDataEndings.Of(words[len(words)-1]) != ""
}

// isDenial reports whether a text is a complete sentence that negates a fact or declares it unknown.
func isDenial(text string) bool {
	first, _, _ := strings.Cut(Normalized(text), "_")
	return first == "no" || first == "not" || first == "none" || first == "denies"
}
