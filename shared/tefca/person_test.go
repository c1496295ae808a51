package tefca_test

import (
	"testing"

	"recordbridge/shared/tefca"
)

func TestAPersonIsThePatientOfTheSameNamesAndBirthDate(t *testing.T) {
	t.Parallel()
	who := tefca.Person{Given: "José Luis", Family: "O'Brien-Núñez", BirthDate: "1984-03-12"}
	for name, test := range map[string]struct {
		given, family, born string
		want                bool
	}{
		"as it stands":          {"José Luis", "O'Brien-Núñez", "1984-03-12", true},
		"without accents":       {"JOSE", "Obrien Nunez", "1984-03-12", true},
		"another second name":   {"José María", "O'Brien-Núñez", "1984-03-12", true},
		"another first name":    {"Luis José", "O'Brien-Núñez", "1984-03-12", false},
		"a part of a name":      {"José", "Núñez", "1984-03-12", false},
		"another birth date":    {"José", "O'Brien-Núñez", "1984-03-13", false},
		"a birth year":          {"José", "O'Brien-Núñez", "1984", false},
		"no birth date":         {"José", "O'Brien-Núñez", "", false},
		"no name":               {"", "", "1984-03-12", false},
		"signs for a name":      {"--", "''", "1984-03-12", false},
		"letters that are none": {"1984", "O'Brien-Núñez", "1984-03-12", false},
	} {
		if got := who.Is(test.given, test.family, test.born); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, test := range map[string]struct {
		who                 tefca.Person
		given, family, born string
		want                bool
	}{
		"another script":        {tefca.Person{Given: "李", Family: "Łuczak", BirthDate: "2000-01-01"}, "李", "Luczak", "2000-01-01", true},
		"nobody":                {tefca.Person{}, "", "", "", false},
		"without a birth date":  {tefca.Person{Given: "A", Family: "B"}, "A", "B", "", false},
		"with signs for a name": {tefca.Person{Given: "--", Family: "B", BirthDate: "2000-01-01"}, "''", "B", "2000-01-01", false},
	} {
		if got := test.who.Is(test.given, test.family, test.born); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
