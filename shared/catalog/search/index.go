package search

import (
	"math"
	"sync"
)

// Index is a search index. Brands are numbered by sort name and ID, so equal scores can be ordered by number. Words are
// numbered in byte order.
type Index struct {
	ids       texts // IDs, indexed by brand like sortNames and sources
	sortNames texts
	sources   texts // each source, compressed with the preset dictionary
	preset    texts // compression dictionary, as a single text
	words     texts
	platforms texts // platform types, sorted like the values of the other facets
	states    texts
	zips      texts

	places     rows // each word's occurrences (see place)
	names      rows // words of each brand's name and aliases, each name followed by endOfName
	ofPlatform rows // indexes into platforms, by brand; inState and atZIP have the same form
	inState    rows
	atZIP      rows

	shared   []byte    // length of the prefix that each word shares with the previous word
	rarity   []float32 // how well each word identifies a brand
	meanings meanings
	scratch  sync.Pool // pool of *scratch
	readers  sync.Pool // pool of decompressors for sources
}

// place is an occurrence of a word: a brand's number and, in the low byte, either the word's position in the brand's
// names or one of the values below.
type place uint32

const (
	placeBits   = 8
	maxBrands   = 1 << (32 - placeBits)
	maxPosition = 0xef // maximum position in a brand's names; all later words share it
	initials    = 0xf0 // The word consists of a name's initials.
	location    = 0xff // The word is part of a location.
	endOfName   = math.MaxUint32
)

func (p place) brand() uint32 { return uint32(p) >> placeBits }

func (p place) position() uint32 { return uint32(p) & (1<<placeBits - 1) }

// Len returns the number of searchable brands.
func (x *Index) Len() int { return int(x.ids.len()) }

// parts returns the parts in the order that the format defines.
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

// prepare computes the data that is not stored in the index.
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

// rarity returns the weight of a word, based on the number of brands that contain it. The minimum weight is 1.
func rarity(all, some uint32) float32 {
	return 1 + float32(math.Log(float64(all+1)/float64(min(max(some, 1), all+1))))
}

// common returns the length, in bytes, of the longest common prefix of two words.
func common(a, b string) byte {
	n := byte(0)
	for int(n) < min(len(a), len(b), maxLetters) && a[n] == b[n] {
		n++
	}
	return n
}
