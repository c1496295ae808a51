// Package terms provides terminology tables, and the FHIR URIs of code systems that CDA identifies by OID.
package terms

import "strings"

// A Table maps codes to codes or texts, like a ConceptMap. Each line contains a key without white space, a space and a
// value. A constant Table needs no initialisation and has the layout of the published table.
type Table string

// Of returns the value for a key, or "" if the table does not contain the key.
func (t Table) Of(key string) string {
	if key == "" || strings.ContainsAny(key, " \n") { // A key with a line feed could match across lines.
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
