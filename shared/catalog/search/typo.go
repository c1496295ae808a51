package search

// typos is a walk over all words of the index at once: words that begin alike share what has been computed of them. An
// edit is a letter more, less or another, or two neighbours exchanged (optimal string alignment), of bytes: words are
// folded to ASCII where they can be.
type typos struct {
	word  string
	limit int // edits
	// rows are, by how many letters of an indexed word and by how many of word, the edits between them: those where the
	// numbers differ by no more than limit, and one beside them that is more.
	rows  [maxLetters + 1][maxLetters + 2]byte
	least [maxLetters + 1]byte // of a row
	begun [maxLetters + 1]byte // of the whole of word up to a row
}

// far is more edits than any word may have.
const far = 3

// editsFor are how many edits a word may have: a short word is another one with a single edit.
func editsFor(word string) int {
	for i := range len(word) {
		if word[i] >= '0' && word[i] <= '9' {
			return 0
		}
	}
	switch {
	case len(word) < 4:
		return 0
	case len(word) < 8:
		return 1
	default:
		return 2
	}
}

// typos calls each for every word that is a typed one but for as many edits as it may have, or one whose beginning is:
// whole and begun are the edits of both, or more than that. Words without any edit are among them.
func (x *Index) typos(word string, isTyping bool, each func(indexed uint32, whole, begun byte)) {
	limit := editsFor(word)
	if limit == 0 {
		return
	}
	t := typos{word: word, limit: limit}
	for j := range t.rows[0] {
		t.rows[0][j] = byte(min(j, far))
	}
	t.begun[0] = far
	end := maxLetters + 1 // so many letters of the last word decided about it, and about all that begin with them
	isBegun := false
	for i := range x.words.len() {
		if from := int(x.shared[i]); from < end {
			indexed := x.words.at(i)
			end = t.read(indexed, from, isTyping)
			begun := t.begun[min(end, len(indexed))]
			isBegun = isTyping && int(begun) <= limit
			if whole := t.whole(indexed, end); isBegun || int(whole) <= limit {
				each(i, whole, begun)
			}
		} else if isBegun {
			each(i, far, t.begun[end])
		}
	}
}

// whole are the edits between word and all of an indexed one of which so many letters decided.
func (t *typos) whole(indexed string, end int) byte {
	if more := len(indexed) - len(t.word); end <= maxLetters || more > t.limit || -more > t.limit {
		return far
	}
	return t.rows[len(indexed)][len(t.word)]
}

// read goes on with an indexed word of which so many letters are read. It gives how many were read when the others made
// no difference any more, and more than maxLetters if they all do.
func (t *typos) read(indexed string, from int, isTyping bool) int {
	for n := from + 1; n <= len(indexed); n++ {
		t.step(indexed, n)
		ends := int(t.least[n]) > t.limit && int(t.least[n-1]) >= t.limit // two exchanged letters come from the row before
		if ends && (!isTyping || int(t.begun[n]) > t.limit || n >= len(t.word)+t.limit) {
			return n
		}
	}
	return maxLetters + 1
}

// step computes the row of n letters.
func (t *typos) step(indexed string, n int) {
	before, now, c := &t.rows[n-1], &t.rows[n], indexed[n-1]
	first, last := max(1, n-t.limit), min(len(t.word), n+t.limit)
	now[first-1] = byte(far)
	if first == 1 {
		now[0] = byte(min(n, far)) //nolint:gosec // G115: far
	}
	least := now[first-1]
	for j := first; j <= last; j++ {
		edits := before[j-1]
		if t.word[j-1] != c {
			edits = min(edits, before[j], now[j-1]) + 1
			if j > 1 && n > 1 && t.word[j-2] == c && t.word[j-1] == indexed[n-2] {
				edits = min(edits, t.rows[n-2][j-2]+1)
			}
		}
		now[j] = min(edits, far)
		least = min(least, now[j])
	}
	now[last+1] = far
	t.least[n], t.begun[n] = least, t.begun[n-1]
	if last == len(t.word) && first <= last {
		t.begun[n] = min(t.begun[n], now[last])
	}
}
