// Package terms holds tables of terminology: how one is looked up, and the URIs of FHIR for the object identifiers of
// code systems that CDA writes.
package terms

import "strings"

// A Table maps codes to codes or words, such as a ConceptMap does. Each of its lines is a key, a space and a value;
// keys have no white space. A constant Table costs nothing until it is used, and reads like the published one.
type Table string

// Of returns the value of a key, or "" if the table has no such key.
func (t Table) Of(key string) string {
	if key == "" || strings.ContainsAny(key, " \n") { // from a document, which can spell whole lines
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
