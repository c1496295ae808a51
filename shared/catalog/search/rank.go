package search

import (
	"math"
	"slices"
	"strings"
)

type ranked struct {
	brand uint32
	score float64
}

// Weights of a score's components. A score consists mainly of the share of the query that a brand matches, weighted by
// rarity. The remaining weights rank brands whose shares of the query are equal.
const (
	perQuery    = 100.0 // all typed words match completely
	perName     = 8.0   // all words of the name were typed, which favours short names
	perOrder    = 4.0   // the words are in the order in which they were typed
	perStart    = 2.0   // the name begins with the first typed word
	perBegun    = 5.0   // the name also begins with all subsequent typed words
	perExact    = 12.0  // the name equals the query
	ofAlias     = 0.9   // factor for an alias
	otherState  = 3.0   // penalty if another state was typed
	fillerCount = 0.25  // weight of a filler word relative to other words
	zipCount    = 0.7   // weight of a ZIP code, which identifies a place but no institution
	nearlyBest  = 0.5   // minimum share of the query that a hit matches, relative to the highest share
	sameMeant   = 0.75  // minimum quality of a brand's match, relative to the word's best match
	minLevel    = 230   // minimum match level, out of 255, at which a word of a name counts as typed
)

// cost returns the amount by which a demotion lowers a score.
func (d Demotion) cost() float64 {
	switch d {
	case Down:
		return 10
	case Degraded:
		return 2
	case NotDemoted:
	}
	return 0
}

// rank returns all brands that match a query, in no particular order.
func (x *Index) rank(q Query) []ranked {
	allowed := x.filter(q)
	found := x.matches(q, allowed)
	if q.ByLocation {
		found = x.near(q, found, allowed)
	}
	if len(typedWords(q.Text)) == 0 && len(q.typed) == 0 {
		lift(found, q.First)
	}
	for i := range found {
		found[i].score = math.Round(found[i].score*1e4) / 1e4
	}
	return found
}

// matches returns the allowed brands that match a query's text.
func (x *Index) matches(q Query, allowed func(uint32) bool) []ranked {
	words := typedWords(q.Text)
	if len(words) > 0 {
		found := x.score(words, allowed)
		if q.Demote != nil {
			for i, r := range found {
				found[i].score = max(0, r.score-q.Demote(x.ids.at(r.brand)).cost())
			}
		}
		return found
	}
	found := make([]ranked, 0, x.Len())
	for b := range x.ids.len() {
		if allowed(b) {
			found = append(found, ranked{brand: b, score: 0})
		}
	}
	return found
}

// filter returns a function that reports whether a brand passes a query's filters.
func (x *Index) filter(q Query) func(brand uint32) bool {
	platforms, states := marked(&x.platforms, q.Platforms), marked(&x.states, q.States)
	return func(brand uint32) bool {
		return (len(q.Platforms) == 0 || anyOf(x.ofPlatform.at(brand), platforms)) &&
			(len(q.States) == 0 || anyOf(x.inState.at(brand), states))
	}
}

func marked(all *texts, values []string) []bool {
	marks := make([]bool, all.len())
	for i := range all.len() {
		marks[i] = slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, all.at(i)) })
	}
	return marks
}

func anyOf(numbers numbers, marks []bool) bool {
	for n := range numbers.all {
		if marks[n] {
			return true
		}
	}
	return false
}

// score returns the allowed brands that match nearly as many words as the best match.
func (x *Index) score(words []string, allowed func(uint32) bool) []ranked {
	s := x.begin(words)
	defer x.scratch.Put(s.scratch)
	s.match()
	known := s.acronym()
	weights, sum := s.weights()
	shares := s.share
	best := float32(0)
	for i, weight := range weights {
		if weight == 0 {
			continue
		}
		factor := weight / sum / 255
		for b, v := range s.found[i] {
			shares[b] += factor * float32(v)
		}
	}
	for b := range x.ids.len() {
		if shares[b] > best && allowed(b) {
			best = shares[b]
		}
	}
	if best == 0 {
		return nil
	}
	said := s.states()
	var found []ranked
	for b := range x.ids.len() {
		if share := shares[b]; share >= best*nearlyBest && allowed(b) {
			score := perQuery*float64(share) + s.name(b)
			if known[b] {
				score = max(score, acronymScore)
			}
			found = append(found, ranked{brand: b, score: max(0, score-s.penalty(b, said))})
		}
	}
	return found
}

// penalty returns the reduction of a brand's score if the query names states, but none of the brand's.
func (s search) penalty(brand uint32, said []bool) float64 {
	states := s.index.inState.at(brand)
	if said == nil || states.len() == 0 || anyOf(states, said) {
		return 0
	}
	return otherState
}

// weights returns each typed word's weight in identifying a brand.
func (s search) weights() (weights []float32, sum float32) {
	weights = make([]float32, len(s.words))
	for i, word := range s.words {
		var counts [256]uint32
		for _, v := range s.found[i] {
			counts[v]++
		}
		best := 255
		for best > 0 && counts[best] == 0 {
			best--
		}
		some := uint32(0)
		for v := int(float64(best) * sameMeant); best > 0 && v <= best; v++ {
			some += counts[v]
		}
		weights[i] = rarity(s.index.ids.len(), some)
		switch {
		case isFiller(word):
			weights[i] *= fillerCount
		case isZIP(word):
			weights[i] *= zipCount
		}
		sum += weights[i]
	}
	return weights, sum
}

// name returns how well the query matches a brand's complete name or best alias.
func (s search) name(brand uint32) float64 {
	row := s.index.names.at(brand)
	best, factor := 0.0, 1.0
	var n seen
	for w := range row.all {
		if w != endOfName {
			n.add(s.mask[w], s.level[w], float64(s.index.rarity[w]))
			continue
		}
		best = max(best, factor*n.value(s.words))
		n, factor = seen{}, ofAlias
	}
	return best
}

type seen struct {
	all, typed float64 // total rarity of all words and of the typed words
	words      uint16  // typed words that the name contains
	mask       uint16  // mask of the most recently added word
	pairs      int     // number of adjacent words that were also typed next to each other
	length     int
	begun      int  // number of leading words that match the typed words in order
	hasUntyped bool // whether any word of the name other than a filler was not typed
}

func (n *seen) add(mask uint16, level byte, rarity float64) {
	n.all += rarity
	if level >= minLevel {
		n.words |= mask
	} else if rarity > 1 { // The word is not a filler word.
		n.hasUntyped = true
	}
	n.typed += rarity * float64(level) / 255
	if n.mask<<1&mask != 0 {
		n.pairs++
	}
	if n.begun == n.length && mask>>n.length&1 != 0 {
		n.begun++
	}
	n.mask = mask
	if rarity > 1 || mask != 0 { // A leading article is ignored.
		n.length++
	}
}

func (n *seen) value(words []string) float64 {
	if n.all == 0 {
		return 0
	}
	value := perName * n.typed / n.all
	if len(words) > 1 {
		value += perOrder * float64(min(n.pairs, len(words)-1)) / float64(len(words)-1)
	}
	if n.begun > 0 {
		value += perStart
	}
	if n.begun == len(words) {
		value += perBegun
	}
	exact := !n.hasUntyped
	for i, word := range words {
		exact = exact && (n.words>>i&1 == 1 || isFiller(word))
	}
	if exact {
		value += perExact
	}
	return value
}

// states marks the states that a query names, or returns nil if it names none. A state code that is also a word is not
// treated as a state.
func (s search) states() []bool {
	var said []string
	for i := range s.words {
		for j := i + 1; j <= min(i+maxJoined, len(s.words)); j++ {
			if code, ok := s.index.meanings.states[strings.Join(s.words[i:j], "")]; ok {
				said = append(said, code)
			}
		}
	}
	if said == nil {
		return nil
	}
	return marked(&s.index.states, said)
}

// best returns the first size hits, or those that follow after if it is not nil.
func (x *Index) best(found []ranked, size int, after *Position) []ranked {
	first := uint32(0)
	if after != nil {
		first = x.behind(*after)
	}
	top := make([]ranked, 0, size+1)
	for _, r := range found {
		if after != nil && (r.score > after.Score || r.score == after.Score && r.brand < first) {
			continue
		}
		if len(top) == size && !precedes(r, top[size-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, r, func(a, b ranked) int {
			if precedes(a, b) {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, r)
		top = top[:min(len(top), size)]
	}
	return top
}

func precedes(a, b ranked) bool {
	return a.score > b.score || a.score == b.score && a.brand < b.brand
}

// behind returns the number of the first brand that sorts after a position's sort name and ID.
func (x *Index) behind(p Position) uint32 {
	return firstOf(0, x.ids.len(), func(b uint32) bool {
		return !x.precedes(b, p.SortName, p.ID) && (x.sortNames.at(b) != p.SortName || x.ids.at(b) != p.ID)
	})
}
