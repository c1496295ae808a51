package r4

import (
	"cmp"
	"reflect"
)

// Listed returns the non-nil values of list.
func Listed[T any](list ...*T) []T {
	var there []T
	for _, l := range list {
		if l != nil {
			there = append(there, *l)
		}
	}
	return there
}

// Concept returns a concept with a single code.
func Concept(system, code, display string) *CodeableConcept {
	return &CodeableConcept{Coding: []Coding{{System: system, Code: code, Display: display}}}
}

// IsEmpty reports whether all of a struct's fields are unset.
func IsEmpty(v any) bool { return reflect.ValueOf(v).IsZero() }

// Display returns the first display text among a concept's codings.
func Display(concept *CodeableConcept) string {
	for _, coding := range concept.Coding {
		if coding.Display != "" {
			return coding.Display
		}
	}
	return ""
}

// CodeKey formats a concept as a key for comparison.
func CodeKey(concept *CodeableConcept) string {
	if len(concept.Coding) > 0 {
		return concept.Coding[0].System + "|" + concept.Coding[0].Code
	}
	return concept.Text
}

// Codings returns the codings of all concepts.
func Codings(list []CodeableConcept) []Coding {
	var all []Coding
	for _, concept := range list {
		all = append(all, concept.Coding...)
	}
	return all
}

// Words returns a concept's text, or the display texts of its codes if the text is empty. It returns "" for a nil
// concept.
func Words(concept *CodeableConcept) string {
	if concept == nil {
		return ""
	}
	return cmp.Or(concept.Text, Display(concept))
}

// True returns a pointer to true.
func True() *bool {
	is := true
	return &is
}
