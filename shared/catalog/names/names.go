// Package names parses institutions' names. It provides the words of a name or a search, abbreviations, and the form in
// which a name is displayed and sorted. It also provides the key by which different spellings of a name are recognised
// as equal (docs/adr/0027-names-and-duplicates.md). The package contains no institution's name, only rules about the
// language of such names.
package names
