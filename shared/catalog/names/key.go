package names

import "strings"

// Reader parses names using tables that it builds once. A Reader is safe for concurrent use.
type Reader struct {
	meanings  map[string]string // most likely meaning of each abbreviation
	forms     map[string]string // spelling of legal forms, degrees and other words with a fixed case
	suffixes  map[string]bool   // legal forms and degrees, which don't distinguish institutions
	ambiguous map[string]bool   // suffixes that are ordinary words unless they end a name
	fillers   map[string]bool
	small     map[string]bool
	noise     map[string]bool
	states    map[string]bool
	common    map[string]bool // words that are common in institutions' names
}

// Key returns a key that all spellings of a name share. The key consists of the name's words with abbreviations
// expanded, without legal forms, degrees, titles or fillers. Names with the same key are considered equal, but may
// belong to different institutions.
func (r *Reader) Key(name string) string {
	all := Words(name)
	words := r.meant(r.bare(all))
	if len(words) == 0 {
		words = all // the name consists only of a legal form
	}
	return strings.Join(words, " ")
}

// IsCommon reports whether a word in a key is so common in institutions' names that it can't distinguish institutions.
func (r *Reader) IsCommon(word string) bool { return r.common[word] }

// bare removes legal forms, degrees and titles. At the end of a name, legal forms and degrees are also removed if their
// letters are separated by spaces ("p c").
func (r *Reader) bare(words []string) []string {
	for end := len(words); end > 1; end = len(words) {
		switch {
		case r.suffixes[words[end-1]]:
			words = words[:end-1]
		case end > 2 && len(words[end-2]) == 1 && len(words[end-1]) == 1 && r.suffixes[words[end-2]+words[end-1]]:
			words = words[:end-2]
		default:
			return r.untitled(words)
		}
	}
	return words
}

// untitled removes practitioners' titles in any position, such as "MD" in "Crane MD Family Practice".
func (r *Reader) untitled(words []string) []string {
	kept := make([]string, 0, len(words))
	for i, w := range words {
		isTitle := w == "dr" || w == "drs"
		if !isTitle && (i == 0 || !r.suffixes[w] || r.ambiguous[w]) {
			kept = append(kept, w)
		}
	}
	return kept
}

// meant expands abbreviations and removes filler words.
func (r *Reader) meant(words []string) []string {
	meant := make([]string, 0, len(words)+2)
	for _, w := range words {
		for first := range strings.FieldsSeq(r.meaning(w)) {
			for second := range strings.FieldsSeq(r.meaning(first)) { // "ob" in "ob gyn" is itself an abbreviation
				if !r.fillers[second] {
					meant = append(meant, second)
				}
			}
		}
	}
	return meant
}

func (r *Reader) meaning(word string) string {
	if meaning, known := r.meanings[word]; known {
		return meaning
	}
	return word
}

// SortName returns a name's sort key.
func SortName(name string) string {
	words := Words(name)
	if len(words) > 1 && words[0] == "the" {
		words = words[1:]
	}
	return strings.Join(words, " ")
}
