package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cased gives a name readable capitalisation. A name entirely in upper or lower case is converted to Title Case, with
// legal forms and degrees in their usual spelling. In any other name, cased changes only the legal forms and degrees.
func (r *Reader) cased(name string) string {
	hasLow, hasCapital := hasLower(strings.ReplaceAll(name, "'s", "")), strings.IndexFunc(name, unicode.IsUpper) >= 0
	words := strings.Fields(name)
	believed := hasLow && hasCapital || len(words) == 1 && hasCapital && utf8.RuneCountInString(name) <= 6
	for i, w := range words {
		switch core := strings.Trim(w, "().,;:"); {
		case r.isForm(core, believed):
			words[i] = strings.Replace(w, core, r.forms[strings.ToLower(core)], 1)
		case !believed:
			words[i] = r.capitalised(w, i == 0)
		}
	}
	return strings.Join(words, " ")
}

// isForm reports whether the table defines a word's spelling. In a name whose case is trusted, the table applies only
// to legal forms and degrees in mixed case.
func (r *Reader) isForm(word string, believed bool) bool {
	form, known := r.forms[strings.ToLower(word)]
	return known && (!believed || form != word && r.suffixes[strings.ToLower(word)] && word != strings.ToUpper(word) &&
		word != strings.ToLower(word))
}

func (r *Reader) capitalised(word string, isFirst bool) string {
	low := strings.ToLower(word)
	switch {
	case !isFirst && r.small[low]:
		return low
	case strings.ContainsAny(word, "0123456789"):
		if strings.HasSuffix(low, "st") || strings.HasSuffix(low, "nd") || strings.HasSuffix(low, "rd") ||
			strings.HasSuffix(low, "th") {
			return low
		}
		return word
	case len(word) <= 5 && !strings.ContainsAny(low, "aeiouy"): // the word is pronounced letter by letter
		return strings.ToUpper(word)
	case strings.Contains(word, ".") && len(strings.ReplaceAll(word, ".", ""))*2 <= len(word)+1: // "M.D."
		return strings.ToUpper(word)
	}
	var b strings.Builder
	start := true // whether a part of the word starts at this position
	for i, c := range low {
		if start && unicode.IsLetter(c) {
			c = unicode.ToUpper(c)
		}
		b.WriteRune(c)
		// A letter after an apostrophe begins a new part in "O'Dell", but not in "Women's".
		start = !unicode.IsLetter(c) && !unicode.IsDigit(c) && (c != '\'' && c != '’' || i == 1)
	}
	written := b.String()
	if len(written) > 5 && strings.HasPrefix(written, "Mc") {
		written = "Mc" + strings.ToUpper(written[2:3]) + written[3:]
	}
	return written
}
