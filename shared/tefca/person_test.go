package tefca_test

import (
	"testing"

	"recordbridge/shared/tefca"
)

func TestPersonMatchRequiresEqualNamesAndBirthDate(t *testing.T) {
	t.Parallel()
	who := tefca.Person{Given: "José Luis", Family: "O'Brien-Núñez", BirthDate: "1984-03-12"}
	for name, test := range map[string]struct {
		given, family, born string
		want                bool
	}{
		"as it stands":          {"José Luis", "O'Brien-Núñez", "1984-03-12", true},
		"without accents":       {"JOSE", "Obrien Nunez", "1984-03-12", true},
		"another second name":   {"José María", "O'Brien-Núñez", "1984-03-12", false},
		"no second name":        {"José", "O'Brien-Núñez", "1984-03-12", true},
		"another first name":    {"Luis José", "O'Brien-Núñez", "1984-03-12", false},
		"a part of a name":      {"José", "Núñez", "1984-03-12", false},
		"another birth date":    {"José", "O'Brien-Núñez", "1984-03-13", false},
		"a birth year":          {"José", "O'Brien-Núñez", "1984", false},
		"no birth date":         {"José", "O'Brien-Núñez", "", false},
		"no name":               {"", "", "1984-03-12", false},
		"signs for a name":      {"--", "''", "1984-03-12", false},
		"letters that are none": {"1984", "O'Brien-Núñez", "1984-03-12", false},
	} {
		if got := who.Is(test.given, test.family, test.born, ""); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, test := range map[string]struct {
		who                 tefca.Person
		given, family, born string
		want                bool
	}{
		"another script": {
			tefca.Person{Given: "李", Family: "Łuczak", BirthDate: "2000-01-01"},
			"李", "Luczak",
			"2000-01-01", true,
		},
		"nobody":               {tefca.Person{}, "", "", "", false},
		"without a birth date": {tefca.Person{Given: "A", Family: "B"}, "A", "B", "", false},
		"with signs for a name": {
			tefca.Person{Given: "--", Family: "B", BirthDate: "2000-01-01"},
			"''", "B",
			"2000-01-01", false,
		},
	} {
		if got := test.who.Is(test.given, test.family, test.born, ""); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPersonMatchRejectsTwin checks that a twin with the same birth date, address and family name doesn't match.
func TestPersonMatchRejectsTwin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		who        tefca.Person
		given, sex string
		want       bool
	}{
		"another further name":                  {tefca.Person{Given: "Mary Ann"}, "Mary Beth", "", false},
		"another middle name":                   {tefca.Person{Given: "Mary", Middle: "Ann"}, "Mary Beth", "", false},
		"another part after a hyphen":           {tefca.Person{Given: "Mary-Ann"}, "Mary-Beth", "", false},
		"another name beside a common one":      {tefca.Person{Given: "Mary Ann Lou"}, "Mary Beth Lou", "", false},
		"another initial":                       {tefca.Person{Given: "Mary Ann"}, "Mary B.", "", false},
		"another sex":                           {tefca.Person{Given: "Robin", Sex: "female"}, "Robin", "M", false},
		"another sex in other words":            {tefca.Person{Given: "Robin", Sex: "M"}, "Robin", "Female", false},
		"half of a hyphenated name":             {tefca.Person{Given: "Mary-Ann"}, "Mary", "", false},
		"the same names":                        {tefca.Person{Given: "Mary Ann", Sex: "female"}, "Mary Ann", "F", true},
		"the facility states no further name":   {tefca.Person{Given: "Mary", Middle: "Ann"}, "Mary", "", true},
		"the provider states no further name":   {tefca.Person{Given: "Mary"}, "Mary Ann", "", true},
		"an initial at the facility":            {tefca.Person{Given: "Mary Ann"}, "MARY A.", "", true},
		"an initial at the provider":            {tefca.Person{Given: "Mary", Middle: "A"}, "Mary Ánn", "", true},
		"an initial of the second of two":       {tefca.Person{Given: "Mary Ann Beth"}, "Mary B", "", true},
		"further names in another order":        {tefca.Person{Given: "Mary Ann Beth"}, "Mary Beth Ann", "", true},
		"one further name of two":               {tefca.Person{Given: "Mary Ann Beth"}, "Mary Beth", "", true},
		"a hyphen for a space":                  {tefca.Person{Given: "Mary-Ann Lou"}, "mary ann", "", true},
		"no space":                              {tefca.Person{Given: "Mary Ann"}, "Maryann", "", true},
		"a name that is in given and middle":    {tefca.Person{Given: "Mary Ann", Middle: "Ann"}, "Mary Ann", "", true},
		"an accent as a character of its own":   {tefca.Person{Given: "Jose\u0301 Mari\u0301a"}, "José María", "", true},
		"a sex that is neither female nor male": {tefca.Person{Given: "Robin", Sex: "nonbinary"}, "Robin", "F", true},
		"a sex that is unknown":                 {tefca.Person{Given: "Robin", Sex: "female"}, "Robin", "UN", true},
		"no sex":                                {tefca.Person{Given: "Robin", Sex: "female"}, "Robin", "", true},
	} {
		test.who.Family, test.who.BirthDate = "Maywood", "2003-03-03"
		if got := test.who.Is(test.given, "Maywood", "2003-03-03", test.sex); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
