package names

import "strings"

// Reader reads names by the tables of this package, which it makes once. It is safe for use by several goroutines.
type Reader struct {
	meanings  map[string]string // of an abbreviation, the likeliest
	forms     map[string]string // legal forms, degrees and what else keeps its case, as it is written
	suffixes  map[string]bool   // legal forms and degrees, which tell no institution from another
	ambiguous map[string]bool   // those of suffixes that are words, too, unless they end a name
	fillers   map[string]bool
	small     map[string]bool
	noise     map[string]bool
	states    map[string]bool
	common    map[string]bool // what institutions of a kind have in common
}

// Key is what the spellings of one name have in common: its words without legal forms, degrees, titles and fillers,
// with abbreviations written out. Two names with the same key are the same name; whether they are the same
// institution, the key does not know.
func (r *Reader) Key(name string) string {
	all := Words(name)
	words := r.meant(r.bare(all))
	if len(words) == 0 {
		words = all // nothing but a legal form
	}
	return strings.Join(words, " ")
}

// IsCommon reports whether a word of a key is one of the language that names of institutions are written in, and
// tells none from another.
func (r *Reader) IsCommon(word string) bool { return r.common[word] }

// bare leaves legal forms, degrees and titles out. The last ones of a name may be spelt with blanks ("p c").
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

// untitled leaves out what says who treats, wherever it stands: "Dr. Crane", "Crane MD Family Practice".
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

// meant writes abbreviations out and leaves fillers out.
func (r *Reader) meant(words []string) []string {
	meant := make([]string, 0, len(words)+2)
	for _, w := range words {
		for first := range strings.FieldsSeq(r.meaning(w)) {
			for second := range strings.FieldsSeq(r.meaning(first)) { // "obgyn" is "ob gyn", and "ob" an abbreviation
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

// SortName is what lists of names are sorted by.
func SortName(name string) string {
	words := Words(name)
	if len(words) > 1 && words[0] == "the" {
		words = words[1:]
	}
	return strings.Join(words, " ")
}
