package search

// typos is a walk over all words of the index at once: words that begin alike share what has been computed of them. An edit is a letter
// more, less or another, or two neighbours exchanged (optimal string alignment), of bytes: words are folded to ASCII where they can be.
type typos struct {
	word  string
	limit byte                   // edits
	rows  [maxLetters + 2][]byte // by how much of the indexed word is read: edits for each length of word
	least [maxLetters + 2]byte   // of a row
	begun [maxLetters + 2]byte   // the fewest edits with which word is a beginning of what is read
}

// editsFor are how many edits a word may have: a short word is another one with a single edit.
func editsFor(word string) byte {
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

// typos calls each for every word that is word with at most as many edits as it may have: whole, or with the edits of a word that it
// begins with. Words without any edit are among them.
func (x *Index) typos(word string, each func(index uint32, whole, begun byte)) {
	limit := editsFor(word)
	if limit == 0 {
		return
	}
	t := typos{word: word, limit: limit}
	all := make([]byte, (len(word)+1)*(maxLetters+2))
	for i := range t.rows {
		t.rows[i] = all[i*(len(word)+1) : (i+1)*(len(word)+1)]
	}
	for i := range t.rows[0] {
		t.rows[0][i] = byte(i)
	}
	t.begun[0] = byte(len(word)) //nolint:gosec // maxLetters
	dead := maxLetters + 1       // how much of the last word was read when no edits could mend it any more
	for i := range x.words.len() {
		from := int(x.shared[i])
		if from >= dead {
			continue
		}
		indexed := x.words.at(i)
		if dead = t.read(indexed, min(from, maxLetters)); dead <= maxLetters {
			continue
		}
		whole, begun := t.rows[len(indexed)][len(word)], t.begun[len(indexed)]
		if whole <= limit || begun <= limit {
			each(i, whole, begun)
		}
	}
}

// read goes on with an indexed word of which the first letters are read. It gives how many were read when it was clear that word is
// neither it nor its beginning, else more than maxLetters.
func (t *typos) read(indexed string, from int) int {
	for depth := from; depth < len(indexed); depth++ {
		t.step(indexed, depth)
		if t.least[depth+1] > t.limit && (depth == 0 || t.least[depth] >= t.limit) && t.begun[depth+1] > t.limit {
			return depth + 1
		}
	}
	return maxLetters + 1
}

// step computes the row after the letter at depth.
func (t *typos) step(indexed string, depth int) {
	before, now, letter := t.rows[depth], t.rows[depth+1], indexed[depth]
	now[0] = byte(depth + 1) //nolint:gosec // maxLetters
	least := now[0]
	for j := 1; j <= len(t.word); j++ {
		edits := before[j-1]
		if t.word[j-1] != letter {
			edits = min(edits, before[j], now[j-1]) + 1
			if j > 1 && depth > 0 && t.word[j-2] == letter && t.word[j-1] == indexed[depth-1] {
				edits = min(edits, t.rows[depth-1][j-2]+1)
			}
		}
		now[j] = edits
		least = min(least, edits)
	}
	t.least[depth+1] = least
	t.begun[depth+1] = min(t.begun[depth], now[len(t.word)])
}
