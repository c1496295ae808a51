// Package names owns how institutions' names are read: the words of a name or of a search, abbreviations, the form in
// which a name is shown and sorted, and the key by which two lists' spellings of one name are found to be equal
// (docs/adr/0027-names-and-duplicates.md). It knows the names of no institution: its rules are of the language that
// such names are written in.
package names
