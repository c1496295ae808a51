package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// IsUnnamed reports whether a concept names nothing that the patient has or had: either it is unknown, or it has a
// negating text such as "No allergy data is applicable".
func IsUnnamed(concept *r4.CodeableConcept) bool {
	return IsUnknown(concept) || len(concept.Coding) == 0 && isDenial(concept.Text)
}

// IsUnknown reports whether a concept names nothing: it is absent, has only a reason for its absence, or has only text
// that declares it unknown. Any other text counts as a name, as does a code for the absence of something.
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

// Normalized returns the words of text in the form used for table keys: in lower case, joined by underscores, without
// surrounding punctuation.
func Normalized(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(text, " .:;-*()[]"))), "_")
}

// isUnknownName reports whether a name states only that something is unknown, such as "Unknown problem".
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

// isDenial reports whether text begins with a word of denial: no, not, none or denies.
func isDenial(text string) bool {
	first, _, _ := strings.Cut(Normalized(text), "_")
	return first == "no" || first == "not" || first == "none" || first == "denies"
}
