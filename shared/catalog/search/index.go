package search

import (
	"fmt"
	"math"
	"sync"
)

// Index is what is searched. Brands are numbers in the order of their sort names and ids, so that brands of the same score are in order by
// their numbers. Words are numbers in their order as bytes.
type Index struct {
	ids       texts
	sortNames texts
	sources   texts // compressed, with dictionary
	words     texts
	platforms texts // and the other facets, in order
	states    texts
	zips      texts
	preset    texts // one: the dictionary of sources

	places     rows // by word: where it stands (place)
	names      rows // by brand: the words of its name, then of its aliases, each of them ended by endOfName
	ofPlatform rows // by brand: numbers of platforms, states and zips
	inState    rows
	atZIP      rows

	shared  []byte     // by word: how many bytes it has in common with the word before, 255 at most
	rarity  []float32  // by word: what it says about which brand is meant
	meaning meanings   // of abbreviations
	scratch *sync.Pool // of *scratch
	readers *sync.Pool // of sources
}

// place is a brand and where in what is said of it a word stands: the brand's number above, the position in names or one of the following in the low byte.
type place uint32

const (
	placeBits   = 8
	maxBrands   = 1 << (32 - placeBits)
	maxPosition = 0xef // of a word in names; what is further behind counts as there
	initials    = 0xf0 // the word is made of the name's first letters
	location    = 0xff // the word is of a location
	endOfName   = math.MaxUint32
)

func placeOf(brand uint32, position int) uint32 { return brand<<placeBits | uint32(position) } //nolint:gosec // a position is a byte

func (p place) brand() uint32 { return uint32(p) >> placeBits }

func (p place) position() int { return int(p & (1<<placeBits - 1)) }

func (x *Index) sections() []section {
	return []section{
		&x.ids, &x.sortNames, &x.sources, &x.words, &x.platforms, &x.states, &x.zips, &x.preset,
		&x.places, &x.names, &x.ofPlatform, &x.inState, &x.atZIP,
	}
}

// Len is how many brands can be found.
func (x *Index) Len() int { return x.ids.len() }

// check finds what points outside.
func (x *Index) check() error {
	brands, words := x.ids.len(), x.words.len()
	if brands > maxBrands {
		return fmt.Errorf("%w: %d brands", errForm, brands)
	}
	for _, t := range []struct {
		texts texts
		size  int
	}{{x.ids, brands}, {x.sortNames, brands}, {x.sources, brands}, {x.words, words}, {x.preset, 1}, {x.platforms, -1}, {x.states, -1}, {x.zips, -1}} {
		if t.size >= 0 && t.texts.len() != t.size || !ascends(t.texts.ends, len(t.texts.bytes)) {
			return fmt.Errorf("%w: texts", errForm)
		}
	}
	for _, r := range []struct {
		rows  rows
		size  int
		below uint64
		or    uint32
	}{
		{x.places, words, uint64(brands) << placeBits, 0}, {x.names, brands, uint64(words), endOfName},
		{x.ofPlatform, brands, uint64(x.platforms.len()), 0}, {x.inState, brands, uint64(x.states.len()), 0}, {x.atZIP, brands, uint64(x.zips.len()), 0},
	} {
		if r.rows.len() != r.size || len(r.rows.values)%4 != 0 || !ascends(r.rows.ends, r.rows.values.len()) {
			return fmt.Errorf("%w: rows", errForm)
		}
		for i := range uint32(r.rows.values.len()) { //nolint:gosec // maxSize
			if v := r.rows.values.at(i); uint64(v) >= r.below && (r.or == 0 || v != r.or) {
				return fmt.Errorf("%w: a number is too large", errForm)
			}
		}
	}
	if err := x.checkPlaces(); err != nil {
		return err
	}
	return x.checkOrder()
}

// checkPlaces finds names without an end, and words that stand behind it.
func (x *Index) checkPlaces() error {
	for b := range uint32(x.names.len()) { //nolint:gosec // maxBrands
		if row := x.names.at(b); row.len() == 0 || row.at(uint32(row.len()-1)) != endOfName { //nolint:gosec // an index
			return fmt.Errorf("%w: a name has no end", errForm)
		}
	}
	for i := range uint32(x.places.values.len()) { //nolint:gosec // maxSize
		if p := place(x.places.values.at(i)); p.position() < maxPosition && p.position()+1 >= x.names.at(p.brand()).len() {
			return fmt.Errorf("%w: a word stands behind its name", errForm)
		}
	}
	return nil
}

// checkOrder finds words and brands out of order, in which nothing would be found.
func (x *Index) checkOrder() error {
	before := ""
	for i := range uint32(x.words.len()) { //nolint:gosec // maxSize
		word := x.words.at(i)
		if word <= before || len(word) > maxLetter {
			return fmt.Errorf("%w: its words are not in order", errForm)
		}
		before = word
	}
	for i := uint32(1); int(i) < x.ids.len(); i++ {
		if a, b := x.sortNames.at(i-1), x.sortNames.at(i); a > b || a == b && x.ids.at(i-1) >= x.ids.at(i) {
			return fmt.Errorf("%w: its brands are not in order", errForm)
		}
	}
	return nil
}

// ascends reports whether ends never go back and the last is at size.
func ascends(ends numbers, size int) bool {
	if len(ends)%4 != 0 {
		return false
	}
	last := uint32(0)
	for i := range uint32(ends.len()) { //nolint:gosec // maxSize
		end := ends.at(i)
		if end < last {
			return false
		}
		last = end
	}
	return int(last) == size
}

// prepare makes what is not in the file.
func (x *Index) prepare() {
	x.shared = make([]byte, x.words.len())
	x.rarity = make([]float32, x.words.len())
	before := ""
	for i := range uint32(x.words.len()) { //nolint:gosec // maxSize
		word := x.words.at(i)
		x.shared[i] = byte(min(common(before, word), math.MaxUint8))
		x.rarity[i] = float32(rarity(x.ids.len(), x.places.at(i).len()))
		if isFiller(word) {
			x.rarity[i] = fillerCount
		}
		before = word
	}
	x.meaning = newMeanings()
	x.scratch = &sync.Pool{New: func() any { return &scratch{} }}
	x.readers = &sync.Pool{}
}

// rarity is how much a word that is found at some of all brands says: from 1 for one that is everywhere.
func rarity(all, some int) float64 {
	return 1 + math.Log(float64(all+1)/float64(max(some, 1)))
}

// common is how many bytes two texts begin with in common.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
