package sim

import (
	"slices"
	"strings"

	"recordbridge/shared/tefca"
)

// fits reports whether a verified person matches a facility's patient at an address. Names, date of birth and sex must
// match (tefca.Person.Is), as must a current or former address. Facilities have neither the person's email address nor
// this service's identifiers on file.
func fits(who, known tefca.Person, at tefca.Address) bool {
	return who.Is(known.Given+" "+known.Middle, known.Family, known.BirthDate, known.Sex) &&
		slices.ContainsFunc(who.Addresses, func(a tefca.Address) bool { return isAt(a, at) })
}

// isAt reports whether two addresses have the same street and either the same postal code (first five digits) or the
// same city and state. Parts of the address that are unknown are ignored.
func isAt(a, at tefca.Address) bool {
	if a.Street != "" && !same(a.Street, at.Street) {
		return false
	}
	if a.PostalCode != "" {
		return len(a.PostalCode) >= 5 && a.PostalCode[:5] == at.PostalCode
	}
	return same(a.City, at.City) && same(a.State, at.State)
}

func same(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
