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
	// maxText is the longest name, street and so on, in bytes.
	maxText = 200
	// maxAddresses is how many addresses of a person are kept, the current one among them.
	maxAddresses = 10
	// oldest is the earliest year of birth that is one.
	oldest = 1850
)

// person reads the demographics that a network is asked with. Three forms of claims are known, whose members have the
// same names but for a few: the flat ones of CMS-aligned networks and of the RCE's SOP, and those inside
// verified_claims (docs/operate/tefca.md). isVouched says that an e-mail address and a telephone number are verified
// though no claim beside them says so.
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

// clean returns a text of one line without space around it, or "" for what cannot be one.
func (c claims) clean(name string) string {
	text := strings.TrimSpace(c.text(name))
	strange := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if len(text) > maxText || strings.ContainsFunc(text, strange) {
		return ""
	}
	return text
}

// contact returns a way to reach the person that is verified: all else is the person's own word, and a network may not
// be asked with it. Some providers write true as a text.
func (c claims) contact(name string, isVouched bool) string {
	if flag := name + "_verified"; c.has(flag) {
		isVouched = c[flag] == true || c[flag] == "true"
	}
	if !isVouched {
		return ""
	}
	return c.clean(name)
}

// birthDate returns a whole date of birth. OpenID Connect lets providers leave the year out, or all but the year;
// nobody can be found by that.
func birthDate(said claims, now time.Time) string {
	text := said.clean("birthdate")
	born, err := time.Parse(time.DateOnly, text)
	if err != nil || born.Year() < oldest || born.After(now.Add(24*time.Hour)) { // it is tomorrow already somewhere
		return ""
	}
	return text
}

// addresses returns the current address and the former ones; none when the current one says
// neither state nor postal code.
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

// address reads an address (OpenID Connect Core 1.0 section 5.1.1). The table of the RCE's SOP has region,
// its example regionality.
func address(said claims) tefca.Address {
	street := strings.NewReplacer("\r\n", ", ", "\n", ", ").Replace(strings.TrimSpace(said.text("street_address")))
	return tefca.Address{
		Street: claims{"street": street}.clean("street"), City: said.clean("locality"),
		State:      said.first("region", "regionality"),
		PostalCode: said.clean("postal_code"), Country: said.clean("country"),
	}
}

// first returns the first text of the members that is there.
func (c claims) first(names ...string) string {
	for _, name := range names {
		if text := c.clean(name); text != "" {
			return text
		}
	}
	return ""
}
