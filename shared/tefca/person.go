package tefca

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Is reports whether a facility's patient is this person. Call Is before using any of the patient's data. The family
// name, the first given name and the complete birth date (YYYY-MM-DD) must match (RCE, SOP "Exchange Purpose
// Implementation: Individual Access Services" v3.0, 4.7 (a)). If both sides state further given names or the sex, these
// must not contradict each other, because twins may differ in nothing else. given contains all given names, in order.
// The comparison ignores case, punctuation and accents.
func (p Person) Is(given, family, birthDate, sex string) bool {
	return p.BirthDate != "" && p.BirthDate == birthDate && sameName(p.Family, family) &&
		sameGiven(p.Given+" "+p.Middle, given) && !isOtherSex(p.Sex, sex)
}

// isOtherSex reports whether one value means female and the other male. Any other combination is compatible with a
// match.
func isOtherSex(a, b string) bool {
	a, b = sexOf(a), sexOf(b)
	return a != "" && b != "" && a != b
}

// sexOf parses a gender value from OpenID Connect, FHIR or HL7 AdministrativeGender. It returns "" for all values
// except female and male.
func sexOf(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "female"
	case "m", "male":
		return "male"
	}
	return ""
}

// sameGiven reports whether the first given names match and the remaining given names don't contradict each other. A
// hyphenated name matches the sequence of its parts.
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

// parts splits given names at spaces and hyphens and normalises each part.
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

// isWithin reports whether each name in the shorter list matches a name in the longer list, in any order. An initial
// matches any name that starts with that letter.
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
	for _, name := range rest { // equal names were removed from both lists above
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

// letters returns a name's letters in lower case. Accents are removed from Latin letters, because many records omit
// them.
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
