// Package names parses institutions' names. The package splits a name or a search into words, expands abbreviations,
// and produces the forms for display and for sorting. The package also computes a key that different spellings of a
// name share (docs/adr/0027-names-and-duplicates.md). The package contains only rules about the language of such names;
// it doesn't contain any institution's name.
package names
