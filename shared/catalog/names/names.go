// Package names parses institutions' names. The package splits a name or a search into words, expands abbreviations,
// and produces display and sort forms. The package also computes a key that different spellings of a name share
// (docs/adr/0027-names-and-duplicates.md). The package contains only spelling rules for institutions' names, not the
// names themselves.
package names
