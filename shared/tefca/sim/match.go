package sim

import (
	"slices"
	"strings"

	"recordbridge/shared/tefca"
)

// fits reports whether a person, as verified, is the one that a facility knows at an address: by names, date of birth
// and sex (tefca.Person.Is), and one of the addresses, be it a former one. What identifies a person to us, such as the
// subject or the e-mail address, is nothing that a facility knows.
func fits(who, known tefca.Person, at tefca.Address) bool {
	return who.Is(known.Given+" "+known.Middle, known.Family, known.BirthDate, known.Sex) &&
		slices.ContainsFunc(who.Addresses, func(a tefca.Address) bool { return isAt(a, at) })
}

// isAt compares addresses by what tells them apart, as far as it is known: the street, with the first five digits of
// the postal code or the city and state.
func isAt(a, at tefca.Address) bool {
	if a.Street != "" && !same(a.Street, at.Street) {
		return false
	}
	if a.PostalCode != "" {
		return len(a.PostalCode) >= 5 && a.PostalCode[:5] == at.PostalCode
	}
	return same(a.City, at.City) && same(a.State, at.State)
}

// same compares words in any case of letters and with any white space between them.
func same(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
