package search

// typos compares a word with all indexed words in a single pass. Rows are computed once for a prefix that consecutive
// words share. An edit inserts, deletes or replaces a byte, or swaps two adjacent bytes (optimal string alignment).
// Words are folded to ASCII if possible.
type typos struct {
	word  string
	limit int // maximum number of edits
	// rows[n][j] is the number of edits between the first n letters of the indexed word and the first j letters of
	// word. Only cells with |n-j| up to limit are computed; the cells next to them hold larger values.
	rows  [maxLetters + 1][maxLetters + 2]byte
	least [maxLetters + 1]byte // minimum of each row
	begun [maxLetters + 1]byte // begun[n] is the fewest edits between word and an indexed prefix of at most n letters.
}

// far exceeds the number of edits of any match.
const far = 3

// editsFor returns the maximum number of edits for a word. The limit is low for short words, because a single edit can
// turn them into other words.
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

// typos calls each for every indexed word within the permitted number of edits of word or, if isTyping is true, with a
// prefix within that number. whole is an upper bound for the edits of the complete word, and begun for those of the
// prefix. Exact matches are included.
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
	end := maxLetters + 1 // leading letters that decided the result for the previous word and any word that shares them
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

// whole returns the number of edits between word and a complete indexed word. end is the number of letters that
// determined the result.
func (t *typos) whole(indexed string, end int) byte {
	if more := len(indexed) - len(t.word); end <= maxLetters || more > t.limit || -more > t.limit {
		return far
	}
	return t.rows[len(indexed)][len(t.word)]
}

// read computes the rows for an indexed word, reusing those of its first from letters. It returns the number of letters
// needed to decide the result, or more than maxLetters if the complete word is needed.
func (t *typos) read(indexed string, from int, isTyping bool) int {
	for n := from + 1; n <= len(indexed); n++ {
		t.step(indexed, n)
		ends := int(t.least[n]) > t.limit && int(t.least[n-1]) >= t.limit // A swap uses the row before the last one.
		if ends && (!isTyping || int(t.begun[n]) > t.limit || n >= len(t.word)+t.limit) {
			return n
		}
	}
	return maxLetters + 1
}

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
