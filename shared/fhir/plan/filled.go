package plan

import (
	"maps"
	"regexp"
)

// placeholder is the place of a field of the token answer in a value of Profile.Query, such as {ah_practice}.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Filled returns the profile with the extra fields of a token set (tokens.Set) in the places that Query has for them. A
// parameter with a place for a field that is not known is left out: half a value would be refused, or mean something
// else. What a field brings is taken as it is, also where it looks like a place.
func (m Profile) Filled(extra map[string]string) Profile {
	m.Query = maps.Clone(m.Query)
	for name, value := range m.Query {
		known := true
		m.Query[name] = placeholder.ReplaceAllStringFunc(value, func(place string) string {
			field := extra[place[1:len(place)-1]]
			known = known && field != ""
			return field
		})
		if !known {
			delete(m.Query, name)
		}
	}
	return m
}
