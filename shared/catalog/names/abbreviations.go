package names

import (
	_ "embed"
	"strings"
)

// abbreviations has a line for each abbreviation, or other spelling of a word: its meanings stand behind a
// colon, the likeliest first.
//
//go:embed abbreviations.txt
var abbreviations string

// Abbreviations are the abbreviations and the other spellings of words that names of institutions and searches for them
// have, each with what it stands for, the likeliest first, as Words has them; what is several words has a blank between
// them. The caller owns the map. States are not among them: geo.StateName knows them by their codes.
func Abbreviations() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(abbreviations) {
		word, meanings, _ := strings.Cut(strings.TrimSpace(line), ": ")
		table[word] = strings.Split(meanings, ", ")
	}
	return table
}
