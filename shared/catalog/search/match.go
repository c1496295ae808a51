package search

import "strings"

// Match quality of a typed word and a word of a name. A complete match ranks above prefixes and misspellings, most of
// which rank above a match inside a word.
const (
	whole                   = 1.0
	plural                  = 0.95       // words that differ only in a final s
	meant                   = 0.95       // one of the words abbreviates the other
	together                = 0.94       // two words in one of the texts are written as one in the other
	typedLeast, typedMore   = 0.80, 0.14 // the last typed word is a prefix; typedMore is scaled by its part of the word
	begunLeast, begunMore   = 0.62, 0.20 // a typed word other than the last is a prefix
	misspelt, perEdit       = 0.86, 1.15 // perEdit is the penalty per edit, relative to the number of letters
	firstEdited             = 0.05       // penalty if the first letter differs
	misspeltBeginning       = 0.85       // factor for a word that is still being typed
	insideLeast, insideMore = 0.40, 0.25
)

// Quality factors for a word that is not part of a name.
const (
	inLocation = 0.9
	asInitials = 0.8
)

const (
	minInside = 4   // minimum length of a word to match inside words
	maxInside = 512 // maximum number of words that contain the typed word
	usualWord = 100 // minimum number of occurrences of a word that isn't considered a misspelling
	maxJoined = 3   // maximum number of consecutive words that may be joined into one
	minSpelt  = 5   // minimum length, in letters, of a misspelt word or a plural
)

// scratch is a search's working memory.
type scratch struct {
	found [maxWords][]byte // match quality (0 to 255) by typed word and brand
	share []float32        // share of the query's weight that each brand matches
	mask  []uint16         // bit mask of the typed words matched by each indexed word
	level []byte           // match quality (0 to 255) by indexed word
}

type search struct {
	*scratch

	index *Index
	words []string
}

func (x *Index) begin(words []string) search {
	s, ok := x.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	s.share = cleared(s.share, x.Len())
	s.mask, s.level = cleared(s.mask, int(x.words.len())), cleared(s.level, int(x.words.len()))
	for i := range words {
		s.found[i] = cleared(s.found[i], x.Len())
	}
	return search{scratch: s, index: x, words: words}
}

func cleared[T any](old []T, size int) []T {
	if cap(old) < size {
		return make([]T, size)
	}
	clear(old[:size])
	return old[:size]
}

// match determines which brands contain each typed word.
func (s search) match() {
	for i, word := range s.words {
		last := i == len(s.words)-1
		s.begins(i, word, last)
		if isFiller(word) {
			continue
		}
		if !last || len(word) >= minSpelt {
			s.exact(i, strings.TrimSuffix(word, "s"), plural)
		}
		s.exact(i, word+"s", plural)
		for _, meaning := range s.index.meanings.of[word] {
			if len(meaning) == 1 {
				s.exact(i, meaning[0], meant)
			} else {
				s.inARow(i, meaning, meant)
			}
		}
		s.misspelt(i, word, last)
		s.inside(i, word)
		s.split(i, word, last)
	}
	s.joined()
}

// begins matches indexed words that begin with a typed word.
func (s search) begins(i int, word string, last bool) {
	from, to := s.index.beginning(word)
	for w := from; w < to; w++ {
		part := float64(len(word)) / float64(len(s.index.words.at(w)))
		switch {
		case part == 1:
			s.take(i, w, whole)
		case last:
			s.take(i, w, typedLeast+typedMore*part)
		case !isFiller(word):
			s.take(i, w, begunLeast+begunMore*part)
		}
	}
}

// beginning returns the range [from, to) of the indexed words that have a given prefix.
func (x *Index) beginning(text string) (from, to uint32) {
	from = firstOf(0, x.words.len(), func(i uint32) bool { return x.words.at(i) >= text })
	return from, firstOf(from, x.words.len(), func(i uint32) bool { return !strings.HasPrefix(x.words.at(i), text) })
}

// firstOf returns the lowest number in [from, to) for which isBehind is true; isBehind must also be true for all higher
// numbers.
func firstOf(from, to uint32, isBehind func(uint32) bool) uint32 {
	for from < to {
		if middle := from + (to-from)/2; isBehind(middle) {
			to = middle
		} else {
			from = middle + 1
		}
	}
	return from
}

func (x *Index) number(word string) (number uint32, ok bool) {
	i := firstOf(0, x.words.len(), func(i uint32) bool { return x.words.at(i) >= word })
	return i, i < x.words.len() && x.words.at(i) == word
}

func (s search) exact(i int, word string, quality float64) {
	if w, ok := s.index.number(word); ok {
		s.take(i, w, quality)
	}
}

// misspelt matches indexed words of which a typed word may be a misspelling, unless the typed word is itself frequent.
func (s search) misspelt(i int, word string, last bool) {
	limit := editsFor(word)
	if w, ok := s.index.number(word); ok && s.index.places.at(w).len() >= usualWord {
		return
	}
	s.index.typos(word, last && len(word) >= minSpelt, func(w uint32, all, begun byte) {
		first := 0.0
		if s.index.words.at(w)[0] != word[0] {
			first = firstEdited
		}
		if int(all) <= limit {
			s.take(i, w, misspelt-first-perEdit*float64(all)/float64(len(word)))
		} else {
			s.take(i, w, misspeltBeginning*(misspelt-first-perEdit*float64(begun)/float64(len(word))))
		}
	})
}

// inside matches indexed words that contain a typed word.
func (s search) inside(i int, word string) {
	if len(word) < minInside {
		return
	}
	words := &s.index.words
	ends := numbers(words.ends)
	for from, n := 0, 0; n < maxInside; n++ {
		at := strings.Index(words.bytes[from:], word)
		if at < 0 {
			return
		}
		at += from
		w := firstOf(0, words.len(), func(w uint32) bool { return int(ends.at(w)) > at })
		end := int(ends.at(w))
		if at+len(word) <= end {
			s.take(i, w, insideLeast+insideMore*float64(len(word))/float64(len(words.at(w))))
		}
		from = end
	}
}

// split matches names that contain a typed word as two or more consecutive words, of which the last may be incomplete.
func (s search) split(i int, word string, last bool) {
	for at := 1; at < len(word); at++ {
		first, ok := s.index.number(word[:at])
		if !ok {
			continue
		}
		from, to := s.index.beginning(word[at:])
		if from == to {
			continue
		}
		if !last || at+2 > len(word) {
			if len(s.index.words.at(from)) != len(word)-at {
				continue
			}
			to = from + 1
		}
		s.pairs(i, first, from, to, len(word)-at)
	}
}

// pairs matches brands whose names contain the word first followed by a word in [from, to). typed is the number of
// letters typed for the second word.
func (s search) pairs(i int, first, from, to uint32, typed int) {
	x := s.index
	for v := range x.places.at(first).all {
		p := place(v)
		if p.position() >= maxPosition {
			continue
		}
		row := x.names.at(p.brand())
		second := row.at(p.position() + 1) // Every name ends with endOfName, so the next position exists.
		if second < from || second >= to {
			continue
		}
		part := float64(typed) / float64(len(x.words.at(second)))
		s.brand(i, p.brand(), together*(typedLeast+(1-typedLeast)*part))
		s.note(i, first, together)
		s.note(i, second, together*(typedLeast+(1-typedLeast)*part))
	}
}

// inARow matches brands whose names contain the words consecutively.
func (s search) inARow(i int, words []string, quality float64) {
	numbers := make([]uint32, len(words))
	for n, word := range words {
		number, ok := s.index.number(word)
		if !ok {
			return
		}
		numbers[n] = number
	}
	for v := range s.index.places.at(numbers[0]).all {
		p := place(v)
		if p.position() >= maxPosition || !s.index.hasInARow(p, numbers) {
			continue
		}
		s.brand(i, p.brand(), quality)
		for _, w := range numbers {
			s.note(i, w, quality)
		}
	}
}

func (x *Index) hasInARow(p place, numbers []uint32) bool {
	row := x.names.at(p.brand())
	at := p.position()
	for _, w := range numbers {
		if at >= row.len() || row.at(at) != w {
			return false
		}
		at++
	}
	return true
}

// joined matches brands whose names contain consecutive typed words as one word, written together or abbreviated.
func (s search) joined() {
	for i := range s.words {
		for j := i + 2; j <= len(s.words); j++ {
			if j-i <= maxJoined {
				s.oneWord(i, j, strings.Join(s.words[i:j], ""))
			}
			for _, short := range s.index.meanings.shorts[essence(s.words[i:j])] {
				if w, ok := s.index.number(short); ok {
					s.span(i, j, w, meant)
				}
			}
		}
	}
}

// oneWord matches indexed words that equal the typed words i to j-1 joined together or, if they are the last ones,
// begin with them.
func (s search) oneWord(i, j int, word string) {
	from, to := s.index.beginning(word)
	for w := from; w < to; w++ {
		part := float64(len(word)) / float64(len(s.index.words.at(w)))
		if part == 1 {
			s.span(i, j, w, together)
		} else if j == len(s.words) {
			s.span(i, j, w, together*(typedLeast+typedMore*part))
		}
	}
}

func (s search) span(i, j int, w uint32, quality float64) {
	for ; i < j; i++ {
		s.take(i, w, quality)
	}
}

// take records a typed word's match with an indexed word, for every brand that contains the indexed word.
func (s search) take(i int, w uint32, quality float64) {
	s.note(i, w, quality)
	inName, elsewhere := level(quality), level(quality*inLocation)
	asInitial := byte(0)
	if quality == whole || quality == together { // "u of m" is the acronym "uofm".
		asInitial = level(asInitials)
	}
	found := s.found[i]
	for v := range s.index.places.at(w).all {
		p, v := place(v), inName
		switch p.position() {
		case location:
			v = elsewhere
		case initials:
			v = asInitial
		}
		if b := p.brand(); found[b] < v {
			found[b] = v
		}
	}
}

func (s search) brand(i int, brand uint32, quality float64) {
	s.found[i][brand] = max(s.found[i][brand], level(quality))
}

func (s search) note(i int, w uint32, quality float64) {
	s.mask[w] |= 1 << i
	s.level[w] = max(s.level[w], level(quality))
}

func level(quality float64) byte { return byte(255*quality + 0.5) }
