package names

import (
	_ "embed"
	"strings"
)

// abbreviations has a line for each abbreviation or alternative spelling, followed by a colon and its meanings, the
// most likely first.
//
//go:embed abbreviations.txt
var abbreviations string

// Abbreviations returns the abbreviations and alternative spellings in institutions' names and searches, with their
// meanings in the form of Words, the most likely first. A meaning of several words contains blanks. The caller owns the
// map. It does not contain states; geo.StateName returns their names by code.
func Abbreviations() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(abbreviations) {
		word, meanings, _ := strings.Cut(strings.TrimSpace(line), ": ")
		table[word] = strings.Split(meanings, ", ")
	}
	return table
}
