package search

import (
	"math"
	"sync"
)

// Index is what is searched. Brands are numbers in the order of their sort names and ids, so that brands of the same
// score are in order by their numbers. Words are numbers in their order as bytes.
type Index struct {
	ids       texts // by brand, as sortNames and sources
	sortNames texts
	sources   texts // compressed, each with preset
	preset    texts // one
	words     texts
	platforms texts // in order, as the other facets
	states    texts
	zips      texts

	places     rows // by word: where it stands (place)
	names      rows // by brand: the words of its name, then of its aliases, each of them ended by endOfName
	ofPlatform rows // by brand: numbers of platforms, states and zips
	inState    rows
	atZIP      rows

	shared   []byte    // by word: how many bytes it has in common with the word before
	rarity   []float32 // by word: what it says about which brand is meant
	meanings meanings
	scratch  sync.Pool // of *scratch
	readers  sync.Pool // of sources
}

// place is where a word stands: the number of a brand, and in the low byte the position in its names,
// or one of the following.
type place uint32

const (
	placeBits   = 8
	maxBrands   = 1 << (32 - placeBits)
	maxPosition = 0xef // of a word in names; what is further behind counts as there
	initials    = 0xf0 // the word is made of the first letters of a name
	location    = 0xff // the word is of a location
	endOfName   = math.MaxUint32
)

func (p place) brand() uint32 { return uint32(p) >> placeBits }

func (p place) position() uint32 { return uint32(p) & (1<<placeBits - 1) }

// Len is how many brands can be found.
func (x *Index) Len() int { return int(x.ids.len()) }

// parts are what the form has, in its order.
func (x *Index) parts() []*string {
	return []*string{
		&x.ids.ends, &x.ids.bytes, &x.sortNames.ends, &x.sortNames.bytes, &x.sources.ends, &x.sources.bytes, &x.preset.ends,
		&x.preset.bytes,
		&x.words.ends, &x.words.bytes, &x.platforms.ends, &x.platforms.bytes, &x.states.ends, &x.states.bytes, &x.zips.ends,
		&x.zips.bytes,
		&x.places.ends, &x.places.values, &x.names.ends, &x.names.values,
		&x.ofPlatform.ends, &x.ofPlatform.values, &x.inState.ends, &x.inState.values, &x.atZIP.ends, &x.atZIP.values,
	}
}

// prepare makes what is not in the form.
func (x *Index) prepare() {
	x.shared = make([]byte, x.words.len())
	x.rarity = make([]float32, x.words.len())
	before := ""
	for w := range x.words.len() {
		word := x.words.at(w)
		x.shared[w] = common(before, word)
		x.rarity[w] = rarity(x.ids.len(), x.places.at(w).len())
		if isFiller(word) {
			x.rarity[w] = fillerCount
		}
		before = word
	}
	x.meanings = newMeanings()
}

// rarity is how much a word says that some of all brands have: 1 is the least.
func rarity(all, some uint32) float32 {
	return 1 + float32(math.Log(float64(all+1)/float64(min(max(some, 1), all+1))))
}

// common is how many bytes two words begin with in common.
func common(a, b string) byte {
	n := byte(0)
	for int(n) < min(len(a), len(b), maxLetters) && a[n] == b[n] {
		n++
	}
	return n
}
