package us

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

type inventor struct {
	random *rand.Rand
	words  map[string]choices
	common []string // names shared by several institutions
}

// choices holds alternative strings and their relative frequencies.
type choices struct {
	texts  []string
	shares []int
	all    int
}

func newInventor(random *rand.Rand) inventor {
	n := inventor{random: random, words: map[string]choices{}}
	for kind, list := range tables {
		var c choices
		for entry := range strings.SplitSeq(list, "|") {
			text, share, isSaid := strings.Cut(entry, "=")
			weight, err := strconv.Atoi(share)
			if !isSaid || err != nil {
				weight = 1
			}
			c.texts, c.shares, c.all = append(c.texts, text), append(c.shares, weight), c.all+weight
		}
		n.words[kind] = c
	}
	for range commonNames {
		n.common = append(n.common, n.fill(n.pick("common")))
	}
	return n
}

const (
	commonNames = 250
	commonOneIn = 30 // one in this many institutions has a common name
)

func (n inventor) pick(kind string) string {
	c := n.words[kind]
	left := n.random.IntN(c.all)
	for i, share := range c.shares {
		if left -= share; left < 0 {
			return c.texts[i]
		}
	}
	return ""
}

func (n inventor) name() string {
	if n.random.IntN(commonOneIn) == 0 {
		return n.common[n.random.IntN(len(n.common))]
	}
	return n.fill(n.pick("names"))
}

// fill replaces each placeholder in pattern with a word of that kind.
func (n inventor) fill(pattern string) string {
	words := strings.Fields(pattern)
	for i, word := range words {
		kind := strings.TrimSuffix(word, ",")
		var text string
		switch {
		case kind == "Proper":
			text = n.proper("end")
		case kind == "Surname":
			text = n.proper("surname")
		case kind == "I":
			text = string("ABCDEFGHIJKLMNOPRSTVWYZ"[n.random.IntN(23)])
		case n.words[kind].all > 0:
			text = n.pick(kind)
		default:
			continue
		}
		words[i] = text + strings.TrimPrefix(word, kind)
	}
	return strings.Join(words, " ")
}

func (n inventor) proper(end string) string { return n.pick("begin") + n.pick("middle") + n.pick(end) }

func (n inventor) town() string { return n.proper("end") + n.pick("town") }

// form returns a legal form to append to a name, preceded by its separator, such as a comma.
func (n inventor) form() string { return n.pick("comma") + n.pick("form") }

// otherwise returns a variant spelling of name that might appear in another vendor's list.
func (n inventor) otherwise(name string) string {
	for _, pair := range [][2]string{
		{"Center", "Ctr"},
		{"Associates", "Assoc"},
		{" and ", " & "},
		{"Saint", "St"},
		{"Medical", "Med"},
	} {
		if n.random.IntN(4) == 0 {
			name = strings.ReplaceAll(name, pair[0], pair[1])
		}
	}
	return name
}
