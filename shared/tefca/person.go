package tefca

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Is compares the person with a facility's patient before any of the patient's data is used. Family name, first given
// name and the complete birth date (YYYY-MM-DD) must agree (RCE, SOP "Exchange Purpose Implementation: Individual
// Access Services" v3.0, 4.7 (a)). Further given names and sex must not contradict each other if both sides state them,
// because twins may differ in nothing else. The argument given holds all given names, in order. Case, punctuation and
// accents are ignored.
func (p Person) Is(given, family, birthDate, sex string) bool {
	return p.BirthDate != "" && p.BirthDate == birthDate && sameName(p.Family, family) &&
		sameGiven(p.Given+" "+p.Middle, given) && !isOtherSex(p.Sex, sex)
}

// isOtherSex reports whether one of two values means female and the other male. No other value rules out a match.
func isOtherSex(a, b string) bool {
	a, b = sexOf(a), sexOf(b)
	return a != "" && b != "" && a != b
}

// sexOf parses a value of OpenID Connect, FHIR or HL7's AdministrativeGender. It returns "" for all values except
// female and male.
func sexOf(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "female"
	case "m", "male":
		return "male"
	}
	return ""
}

// sameGiven reports whether the first given names agree and the others do not contradict each other. A hyphenated name
// equals its parts in order.
func sameGiven(a, b string) bool {
	if sameName(a, b) {
		return true
	}
	first := max(len(parts(firstWord(a))), len(parts(firstWord(b))))
	ofA, ofB := parts(a), parts(b)
	return first > 0 && len(ofA) >= first && len(ofB) >= first && slices.Equal(ofA[:first], ofB[:first]) &&
		isWithin(ofA[first:], ofB[first:])
}

func firstWord(name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	return first
}

// parts splits given names at spaces and hyphens and normalises them.
func parts(names string) []string {
	var list []string
	for part := range strings.FieldsFuncSeq(names,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) }) {
		if part = letters(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// isWithin reports whether each name of the shorter list matches one in the other, in any order. An initial matches any
// name that begins with it.
func isWithin(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	left := slices.Clone(b)
	take := func(fits func(string) bool) bool {
		at := slices.IndexFunc(left, fits)
		if at >= 0 {
			left = slices.Delete(left, at, at+1)
		}
		return at >= 0
	}
	rest := slices.DeleteFunc(slices.Clone(a),
		func(name string) bool { return take(func(other string) bool { return other == name }) })
	for _, name := range rest { // equal names have been removed
		if !take(func(other string) bool { return isInitial(name, other) || isInitial(other, name) }) {
			return false
		}
	}
	return true
}

func isInitial(initial, of string) bool {
	return utf8.RuneCountInString(initial) == 1 && strings.HasPrefix(of, initial)
}

func sameName(a, b string) bool {
	a, b = letters(a), letters(b)
	return a != "" && a == b
}

// letters returns only the letters of a name, in lower case and without accents on Latin ones, which many records omit.
func letters(name string) string {
	plain := strings.Fields("aàáâãäåāăą cçćč dďđ eèéêëēęě gğ iìíîïī lł nñńň oòóôõöøōő rř sśšş tťţ uùúûüūůű yýÿ zźżž")
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		for _, group := range plain {
			if r > unicode.MaxASCII && strings.ContainsRune(group, r) {
				return rune(group[0])
			}
		}
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, name)
}
