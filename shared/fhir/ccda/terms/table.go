// Package terms holds tables of terminology: how one is looked up, and the URIs of FHIR for the object identifiers of code
// systems that CDA writes.
package terms

import (
	"strings"
)

// Lookup finds a key in a table: a text of lines, each a key, a space and a value. A table is a constant, so that it costs
// nothing until it is asked, and reads like the published one.
func Lookup(table, key string) string {
	for rest := table; key != ""; {
		i := strings.Index(rest, key)
		if i < 0 {
			return ""
		}
		end := i + len(key)
		if i > 0 && rest[i-1] == '\n' && end < len(rest) && rest[end] == ' ' {
			value, _, _ := strings.Cut(rest[end+1:], "\n")
			return value
		}
		rest = rest[end:]
	}
	return ""
}
