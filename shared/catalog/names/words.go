package names

import (
	"strings"
	"unicode"
)

// Words are the words of a text as names and searches are compared by them: in lower case, without diacritics, split at
// whatever is neither a letter nor a digit. "&" and "+" are the word "and". An apostrophe leaves no trace ("women's" is
// "womens"), nor do dots between single letters ("M.D." is "md").
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
	size   int  // of word, in letters and digits
	last   rune // of word
	dotted int  // how many single letters with a dot stand just before word
	dot    bool // the word so far is a letter with a dot
}

func (r *reader) take(c rune) {
	switch {
	case 'a' <= c && c <= 'z' && !r.dot: // nearly always
		r.size++
		r.last = c
		r.word.WriteByte(byte(c))
	case c == '\'' || c == '’' || c == '‘' || c == '`' || unicode.Is(unicode.Mn, c):
		// an apostrophe, or a diacritic of its own
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

// join ends a word that is one letter with a dot, to which another letter follows at once: they are
// letters of one abbreviation.
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
		// The last letter of "M.D" belongs to it with or without a dot; in "J.Smith" a name follows.
		if r.dotted > 0 && r.size == 1 {
			r.words[len(r.words)-1] += word
		} else {
			r.words = append(r.words, word)
		}
	}
	r.word.Reset()
	r.size, r.dotted, r.dot = 0, 0, false
}

// writeFolded writes a letter in lower case and without its diacritic, where it is one of the Latin letters that
// Western European names have; other letters stay as they are.
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
		// Each letter of the first line stands above the one that it is without a diacritic.
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
