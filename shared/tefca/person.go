package tefca

import (
	"strings"
	"unicode"
)

// Is compares the person with what a facility says of a patient of its own: family name, first given name and the whole birth date
// (YYYY-MM-DD) have to agree, before anything of the patient is taken (RCE, SOP "Exchange Purpose Implementation: Individual Access
// Services" v3.0, 4.7 (a)). Case, marks and accents do not count. Sex does not: records often differ in it without being of two people.
func (p Person) Is(given, family, birthDate string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(given), " ")
	own, _, _ := strings.Cut(strings.TrimSpace(p.Given), " ")
	return p.BirthDate != "" && p.BirthDate == birthDate && sameName(own, first) && sameName(p.Family, family)
}

func sameName(a, b string) bool {
	a, b = letters(a), letters(b)
	return a != "" && a == b
}

// letters leaves the letters of a name in lower case, Latin ones without their accents, which many records leave out.
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
