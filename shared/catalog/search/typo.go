package search

// typos compares a word with all indexed words in a single pass. Rows are computed only once for a prefix that
// consecutive words share. An edit inserts, deletes or replaces a byte, or swaps two adjacent bytes (optimal string
// alignment). Words are folded to ASCII if possible.
type typos struct {
	word  string
	limit int // maximum number of edits
	// rows[n][j] is the edit distance between the first n letters of the indexed word and the first j letters of word.
	// Only cells for which |n-j| is at most limit are computed; the adjacent cells hold larger values.
	rows  [maxLetters + 1][maxLetters + 2]byte
	least [maxLetters + 1]byte // least[n] is the minimum of rows[n]
	begun [maxLetters + 1]byte // begun[n] is word's least distance from an indexed prefix of up to n letters
}

// far exceeds the edit distance of any match.
const far = 3

// editsFor returns the maximum edit distance for a word. The limit is low for short words, because a single edit can
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

// typos calls each for every indexed word within the permitted edit distance of word or, if isTyping is true, with a
// prefix within that distance. whole is an upper bound on the complete word's distance, and begun on the prefix's.
// Exact matches are also passed to each.
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
	end := maxLetters + 1 // letters that determined the last result; words that share them have the same result
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

// whole returns the edit distance between word and a complete indexed word. end is the number of letters that
// determined the result.
func (t *typos) whole(indexed string, end int) byte {
	if more := len(indexed) - len(t.word); end <= maxLetters || more > t.limit || -more > t.limit {
		return far
	}
	return t.rows[len(indexed)][len(t.word)]
}

// read computes the rows for an indexed word, reusing the rows of its first from letters. It returns the number of
// letters after which the result is certain, or more than maxLetters if the complete word is needed.
func (t *typos) read(indexed string, from int, isTyping bool) int {
	for n := from + 1; n <= len(indexed); n++ {
		t.step(indexed, n)
		ends := int(t.least[n]) > t.limit && int(t.least[n-1]) >= t.limit // A swap uses the second-to-last row.
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
