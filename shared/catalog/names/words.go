package names

import (
	"strings"
	"unicode"
)

// Words splits a string into lower-case words without diacritics, for comparing names and searches. Any character that
// is not a letter or a digit separates words. "&" and "+" become the word "and". Words removes apostrophes ("women's"
// becomes "womens") and dots between single letters ("M.D." becomes "md").
func Words(text string) []string {
	r := reader{words: make([]string, 0, 8)}
	for _, c := range text {
		r.take(c)
	}
	r.end()
	return r.words
}

// reader collects words character by character.
type reader struct {
	words  []string
	word   strings.Builder
	size   int  // number of letters and digits in word
	last   rune // last character of word
	dotted int  // number of consecutive single letters directly before word, each followed by a dot
	dot    bool // whether the word so far is a single letter followed by a dot
}

func (r *reader) take(c rune) {
	switch {
	case 'a' <= c && c <= 'z' && !r.dot: // the most frequent case comes first
		r.size++
		r.last = c
		r.word.WriteByte(byte(c))
	case c == '\'' || c == '’' || c == '‘' || c == '`' || unicode.Is(unicode.Mn, c):
		// Apostrophes and combining diacritics are removed.
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

// join combines a single letter and its dot with the letter that follows directly, as part of the same abbreviation.
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
		// In "M.D", the last letter belongs to the abbreviation with or without a dot. In "J.Smith", a name follows the
		// dot.
		if r.dotted > 0 && r.size == 1 {
			r.words[len(r.words)-1] += word
		} else {
			r.words = append(r.words, word)
		}
	}
	r.word.Reset()
	r.size, r.dotted, r.dot = 0, 0, false
}

// writeFolded writes a letter in lower case and removes the diacritics of Latin letters that occur in Western European
// names.
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
		// Each letter in the first line corresponds to the letter below it, which has no diacritic.
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
