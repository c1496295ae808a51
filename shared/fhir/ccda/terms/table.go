// Package terms holds terminology tables: their lookup, and the FHIR URIs of the code systems that CDA identifies by
// object identifiers.
package terms

import "strings"

// A Table maps codes to codes or words, like a ConceptMap. Each of its lines is a key, a space and a value; keys
// contain no white space. A constant Table costs nothing until it is used, and reads like the published one.
type Table string

// Of returns the value of a key, or "" if the table has no such key.
func (t Table) Of(key string) string {
	if key == "" || strings.ContainsAny(key, " \n") { // a document's key could otherwise match across lines
		return ""
	}
	line := "\n" + key + " "
	i := strings.Index(string(t), line)
	if i < 0 {
		return ""
	}
	value, _, _ := strings.Cut(string(t)[i+len(line):], "\n")
	return value
}
