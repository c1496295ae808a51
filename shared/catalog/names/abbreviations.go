package names

import (
	_ "embed"
	"strings"
)

// abbreviations has one line per abbreviation or alternative spelling. A colon separates the abbreviation from its
// meanings. The most likely meaning comes first.
//
//go:embed abbreviations.txt
var abbreviations string

// Abbreviations returns the abbreviations and alternative spellings used in institutions' names and searches. The map
// contains each abbreviation's meanings in the form that Words returns, most likely meaning first. The words of each
// meaning are separated by spaces. The caller owns the map. The map does not contain state codes; geo.StateName returns
// states by code.
func Abbreviations() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(abbreviations) {
		word, meanings, _ := strings.Cut(strings.TrimSpace(line), ": ")
		table[word] = strings.Split(meanings, ", ")
	}
	return table
}
