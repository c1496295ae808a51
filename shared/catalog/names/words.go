package names

import (
	"strings"
	"unicode"
)

// Words returns the words of a text for comparing names and searches: in lower case, without diacritics, split at every
// character that is not a letter or a digit. "&" and "+" become the word "and". Apostrophes are removed ("women's" is
// "womens"), as are dots between single letters ("M.D." is "md").
func Words(text string) []string {
	r := reader{words: make([]string, 0, 8)}
	for _, c := range text {
		r.take(c)
	}
	r.end()
	return r.words
}

// reader collects words letter by letter.
type reader struct {
	words  []string
	word   strings.Builder
	size   int  // length of word, in letters and digits
	last   rune // last character of word
	dotted int  // number of single letters with a dot directly before word
	dot    bool // word so far is a single letter with a dot
}

func (r *reader) take(c rune) {
	switch {
	case 'a' <= c && c <= 'z' && !r.dot: // the most frequent case
		r.size++
		r.last = c
		r.word.WriteByte(byte(c))
	case c == '\'' || c == '’' || c == '‘' || c == '`' || unicode.Is(unicode.Mn, c):
		// an apostrophe, or a combining diacritic
	case unicode.IsLetter(c) || unicode.IsDigit(c):
		if r.dot {
			r.join()
		}
		r.size++
		r.last = c
		writeFolded(&r.word, c)
	case c == '.' && r.size == 1 && unicode.IsLetter(r.last):
		r.dot = true
	case c == '&' || c == '+':
		r.end()
		r.words = append(r.words, "and")
	default:
		r.end()
	}
}

// join ends a word that is a single letter with a dot if another letter follows directly: both belong to one
// abbreviation.
func (r *reader) join() {
	initial := r.word.String()
	r.word.Reset()
	r.size, r.dot = 0, false
	if r.dotted > 0 {
		r.words[len(r.words)-1] += initial
	} else {
		r.words = append(r.words, initial)
	}
	r.dotted++
}

func (r *reader) end() {
	if r.size > 0 {
		word := r.word.String()
		// The last letter of "M.D" belongs to it with or without a dot. In "J.Smith" a name follows.
		if r.dotted > 0 && r.size == 1 {
			r.words[len(r.words)-1] += word
		} else {
			r.words = append(r.words, word)
		}
	}
	r.word.Reset()
	r.size, r.dotted, r.dot = 0, 0, false
}

// writeFolded writes a letter in lower case and without its diacritic if it is a Latin letter of Western European
// names. Other letters are only lower-cased.
func writeFolded(b *strings.Builder, c rune) {
	c = unicode.ToLower(c)
	if c < 0x80 {
		b.WriteByte(byte(c)) //nolint:gosec // below 0x80, as has just been seen
		return
	}
	switch c {
	case 'ß':
		b.WriteString("ss")
	case 'æ':
		b.WriteString("ae")
	case 'œ':
		b.WriteString("oe")
	case 'þ':
		b.WriteString("th")
	default:
		// Each letter of the first line is above its counterpart without a diacritic.
		const (
			marked = "àáâãäåāăąçćĉċčďđðèéêëēĕėęěĝğġģĥħìíîïĩīĭįıĵķĺļľŀłñńņňòóôõöøōŏőŕŗřśŝşšţťŧùúûüũūŭůűųŵýÿŷźżž"
			plain  = "aaaaaaaaacccccdddeeeeeeeeegggghhiiiiiiiiijklllllnnnnooooooooorrrsssstttuuuuuuuuuuwyyyzzz"
		)
		if at := strings.IndexRune(marked, c); at >= 0 {
			b.WriteByte(plain[len([]rune(marked[:at]))])
			return
		}
		b.WriteRune(c)
	}
}
