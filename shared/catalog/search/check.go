package search

import "fmt"

// check detects references that point outside the index, and data out of order. Searches assume that check has
// succeeded.
func (x *Index) check() error {
	brands, words := x.ids.len(), x.words.len()
	if brands >= maxBrands {
		return fmt.Errorf("%w: %d brands", errForm, brands)
	}
	for _, t := range []struct {
		texts *texts
		size  uint32
	}{
		{&x.ids, brands},
		{&x.sortNames, brands},
		{&x.sources, brands},
		{&x.preset, 1},
		{&x.words, words},
		{&x.platforms, x.platforms.len()},
		{&x.states, x.states.len()},
		{&x.zips, x.zips.len()},
	} {
		if t.texts.len() != t.size || !ascend(t.texts.ends, len(t.texts.bytes)) {
			return fmt.Errorf("%w: its texts do not fit", errForm)
		}
	}
	for _, r := range []struct {
		rows  *rows
		size  uint32
		below uint32
	}{
		{&x.places, words, brands << placeBits},
		{&x.names, brands, words},
		{&x.ofPlatform, brands, x.platforms.len()},
		{&x.inState, brands, x.states.len()},
		{&x.atZIP, brands, x.zips.len()},
	} {
		if r.rows.len() != r.size || len(r.rows.values)%numberLen != 0 || !ascend(r.rows.ends, len(r.rows.values)/numberLen) {
			return fmt.Errorf("%w: its lists do not fit", errForm)
		}
		for v := range numbers(r.rows.values).all {
			if v >= r.below && (r.rows != &x.names || v != endOfName) {
				return fmt.Errorf("%w: a number is too large", errForm)
			}
		}
	}
	return x.checkNames()
}

// checkNames detects unterminated names, words after the last name, and words and brands out of order.
func (x *Index) checkNames() error {
	for b := range x.names.len() {
		if row := x.names.at(b); row.len() == 0 || row.at(row.len()-1) != endOfName {
			return fmt.Errorf("%w: a name has no end", errForm)
		}
	}
	for v := range numbers(x.places.values).all {
		if p := place(v); p.position() < maxPosition && p.position()+1 >= x.names.at(p.brand()).len() {
			return fmt.Errorf("%w: a word stands behind its name", errForm)
		}
	}
	before := ""
	for w := range x.words.len() {
		word := x.words.at(w)
		if word <= before || len(word) > maxLetters {
			return fmt.Errorf("%w: its words are not in order", errForm)
		}
		before = word
	}
	for b := range x.ids.len() {
		if b > 0 && !x.precedes(b-1, x.sortNames.at(b), x.ids.at(b)) {
			return fmt.Errorf("%w: its brands are not in order", errForm)
		}
	}
	return nil
}

// precedes reports whether a brand sorts before a sort name and ID.
func (x *Index) precedes(brand uint32, sortName, id string) bool {
	own := x.sortNames.at(brand)
	return own < sortName || own == sortName && x.ids.at(brand) < id
}

// ascend reports whether the offsets in ends never decrease and the last offset equals size.
func ascend(ends string, size int) bool {
	last := uint32(0)
	for end := range numbers(ends).all {
		if end < last {
			return false
		}
		last = end
	}
	return int(last) == size && len(ends)%numberLen == 0
}
