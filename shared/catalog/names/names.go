// Package names parses institutions' names. It splits a name or a search into words, expands abbreviations, and
// produces the forms for display and for sorting. It also computes the key by which different spellings of a name are
// recognised as equal (docs/adr/0027-names-and-duplicates.md). The package contains only rules about the language of
// such names; it doesn't contain any institution's name.
package names
