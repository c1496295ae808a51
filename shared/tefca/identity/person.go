package identity

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/tefca"
)

const (
	// maxText is the maximum length in bytes of a name, a street and similar values.
	maxText = 200
	// maxAddresses is the maximum number of addresses per person, including the current one.
	maxAddresses = 10
	// oldest is the earliest accepted year of birth.
	oldest = 1850
)

// person extracts the demographics used to query a network. The accepted forms are the flat claims of CMS-aligned
// networks, the claims of the RCE's SOP, and the claims inside verified_claims (docs/operate/tefca.md). These forms
// share most claim names. If isVouched is true, email addresses and telephone numbers count as verified even if no
// claim says so.
func person(said claims, isVouched bool, now time.Time) (tefca.Person, error) {
	found := tefca.Person{
		Given: said.clean("given_name"), Middle: said.clean("middle_name"), Family: said.clean("family_name"),
		BirthDate: birthDate(said, now), Sex: said.clean("gender"), Addresses: addresses(said),
		Email: said.contact("email", isVouched), Phone: said.contact("phone_number", isVouched),
	}
	if found.Given == "" || found.Family == "" || found.BirthDate == "" || len(found.Addresses) == 0 {
		return tefca.Person{}, failed(causeDemographics, nil)
	}
	return found, nil
}

// clean returns a member as a single line of trimmed text, or "" if the member can't be used.
func (c claims) clean(name string) string {
	text := strings.TrimSpace(c.text(name))
	strange := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if len(text) > maxText || strings.ContainsFunc(text, strange) {
		return ""
	}
	return text
}

// contact returns a verified email address or telephone number. Unverified contacts are self-asserted and must not be
// sent to a network. Some providers send true as a string.
func (c claims) contact(name string, isVouched bool) string {
	if flag := name + "_verified"; c.has(flag) {
		isVouched = c[flag] == true || c[flag] == "true"
	}
	if !isVouched {
		return ""
	}
	return c.clean(name)
}

// birthDate returns the date of birth if it is complete. OpenID Connect allows a date without a year and a year without
// a date, but neither identifies a person.
func birthDate(said claims, now time.Time) string {
	text := said.clean("birthdate")
	born, err := time.Parse(time.DateOnly, text)
	// In some time zones, it is already the next day.
	if err != nil || born.Year() < oldest || born.After(now.Add(24*time.Hour)) {
		return ""
	}
	return text
}

// addresses returns the current and former addresses. It returns nil if the current address has neither a state nor a
// postal code.
func addresses(said claims) []tefca.Address {
	current := said.objects("address")
	if len(current) == 0 || !isPlace(address(current[0])) {
		return nil
	}
	all := slices.Concat(current, said.objects("historical_address"), said.objects("historical_addresses"))
	var found []tefca.Address
	for _, one := range all[:min(len(all), maxAddresses)] {
		if where := address(one); isPlace(where) {
			found = append(found, where)
		}
	}
	return found
}

func isPlace(a tefca.Address) bool { return a.State != "" || a.PostalCode != "" }

// address parses an address claim (OpenID Connect Core 1.0 section 5.1.1). The RCE's SOP uses the name region in its
// table, but regionality in its example.
func address(said claims) tefca.Address {
	street := strings.NewReplacer("\r\n", ", ", "\n", ", ").Replace(strings.TrimSpace(said.text("street_address")))
	return tefca.Address{
		Street: claims{"street": street}.clean("street"), City: said.clean("locality"),
		State:      said.first("region", "regionality"),
		PostalCode: said.clean("postal_code"), Country: said.clean("country"),
	}
}

// first returns the first nonempty value of the named members.
func (c claims) first(names ...string) string {
	for _, name := range names {
		if text := c.clean(name); text != "" {
			return text
		}
	}
	return ""
}
