package plan

import (
	"maps"
	"regexp"
)

// placeholder matches a placeholder such as {ah_practice} in a value of Profile.Query. A placeholder represents a field
// of the token response.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Filled returns the profile with the placeholders in Query replaced by a token set's extra fields (tokens.Set). A
// parameter with an unknown placeholder is omitted, because the server would reject a partial value or misread it.
// Field values are used literally, even if they look like placeholders.
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
