package r4

import (
	"cmp"
	"reflect"
)

// Listed makes a list of what may be nil.
func Listed[T any](list ...*T) []T {
	var there []T
	for _, l := range list {
		if l != nil {
			there = append(there, *l)
		}
	}
	return there
}

// Concept makes a concept of a code that FHIR defines.
func Concept(system, code, display string) *CodeableConcept {
	return &CodeableConcept{Coding: []Coding{{System: system, Code: code, Display: display}}}
}

// IsEmpty reports whether nothing of a struct is set.
func IsEmpty(v any) bool { return reflect.ValueOf(v).IsZero() }

// Display gives the first words that a concept's codes come with.
func Display(concept *CodeableConcept) string {
	for _, coding := range concept.Coding {
		if coding.Display != "" {
			return coding.Display
		}
	}
	return ""
}

// CodeKey writes a concept as a text for comparing.
func CodeKey(concept *CodeableConcept) string {
	if len(concept.Coding) > 0 {
		return concept.Coding[0].System + "|" + concept.Coding[0].Code
	}
	return concept.Text
}

func Codings(list []CodeableConcept) []Coding {
	var all []Coding
	for _, concept := range list {
		all = append(all, concept.Coding...)
	}
	return all
}

// Words gives the words of a concept: its text, else those of its codes; "" for nil.
func Words(concept *CodeableConcept) string {
	if concept == nil {
		return ""
	}
	return cmp.Or(concept.Text, Display(concept))
}

func True() *bool {
	is := true
	return &is
}
