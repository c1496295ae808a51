package search_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/search"
)

// Seeds for generating the relevance questions. The score's weights were tuned using questions generated from the seed
// tuned. Nobody inspects the questions generated from the seed heldOut.
const (
	tuned   = 17
	heldOut = 71
)

// question is a query and its relevant brands.
type question struct {
	kind string
	text string
	want map[string]bool
}

// asker generates questions from randomly selected brands, with their names as people write them.
type asker struct {
	random  *rand.Rand
	entries []search.Entry
	byKey   map[string][]int // indexes of entries, by key alone and by key with state
	keys    []string         // sorted keys
	rare    map[string]int   // number of brands by word
	shorts  map[string][]string
	known   map[string]int // number of keys by acronym
}

func newAsker(entries []search.Entry, seed uint64) asker {
	a := asker{
		random: rand.New(rand.NewPCG(seed, seed)), entries: entries, byKey: map[string][]int{},
		rare: map[string]int{}, shorts: map[string][]string{}, known: map[string]int{},
	}
	for i, e := range entries {
		key := keyOf(e.Brand.Name)
		a.byKey[key] = append(a.byKey[key], i)
		for _, place := range placesOf(e) {
			a.byKey[key+"|"+place] = append(a.byKey[key+"|"+place], i)
		}
		for _, word := range names.Words(e.Brand.Name) {
			a.rare[word]++
		}
	}
	for key := range a.byKey {
		if !strings.Contains(key, "|") {
			a.keys = append(a.keys, key)
		}
	}
	slices.Sort(a.keys)
	for _, key := range a.keys {
		a.known[initialsOf(strings.Fields(key))]++
	}
	for short, meanings := range names.Abbreviations() {
		for _, long := range meanings {
			if !strings.Contains(long, " ") && len(short) > 1 {
				a.shorts[short] = append(a.shorts[short], long)
				a.shorts[long] = append(a.shorts[long], short)
			}
		}
	}
	for _, others := range a.shorts {
		slices.Sort(others)
	}
	return a
}

// placesOf returns a brand's states, and the city or postal code of each location.
func placesOf(e search.Entry) []string {
	places := statesOf(e)
	for _, l := range e.Brand.Locations {
		places = append(places, cmp.Or(l.City, l.PostalCode))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func keyOf(name string) string { return strings.Join(names.Words(name), " ") }

func statesOf(e search.Entry) []string {
	var states []string
	for _, l := range e.Brand.Locations {
		if l.State != "" && !slices.Contains(states, l.State) {
			states = append(states, l.State)
		}
	}
	return states
}

// kinds returns the question generators by question type. A generator returns "" for an unsuitable brand.
func (a asker) kinds() map[string]func(search.Entry) (text, key string) {
	plain := func(say func(words []string) string) func(search.Entry) (string, string) {
		return func(e search.Entry) (string, string) { return say(names.Words(e.Brand.Name)), keyOf(e.Brand.Name) }
	}
	return map[string]func(search.Entry) (string, string){
		"exact":        func(e search.Entry) (string, string) { return e.Brand.Name, keyOf(e.Brand.Name) },
		"prefix":       plain(a.typing),
		"middle words": plain(a.middle),
		"one typo":     plain(func(words []string) string { return a.mistype(words, 1, 5) }),
		"two typos":    plain(func(words []string) string { return a.mistype(words, 2, 8) }),
		"typo, typing": plain(a.mistyping),
		"abbreviation": plain(a.abbreviate),
		"word order":   plain(a.shuffle),
		"joined words": plain(a.join),
		"split word":   plain(a.split),
		"two words":    plain(a.telling),
		"state said":   a.withState,
		"same name in several states": func(e search.Entry) (string, string) {
			if a.statesWith(keyOf(e.Brand.Name)) < 2 {
				return "", ""
			}
			return a.withState(e)
		},
		"city or ZIP said": a.withPlace,
		"acronym":          plain(a.acronym),
	}
}

func (a asker) statesWith(key string) int {
	states := map[string]bool{}
	for _, i := range a.byKey[key] {
		for _, state := range statesOf(a.entries[i]) {
			states[state] = true
		}
	}
	return len(states)
}

func (a asker) ask(each int) []question {
	kinds := a.kinds()
	sorted := make([]string, 0, len(kinds))
	for kind := range kinds {
		sorted = append(sorted, kind)
	}
	slices.Sort(sorted)
	var questions []question
	for _, kind := range sorted {
		for made, tries := 0, 0; made < each && tries < 200*each; tries++ {
			e := a.entries[a.random.IntN(len(a.entries))]
			text, key := kinds[kind](e)
			if text == "" || len(keyOf(e.Brand.Name)) < 4 {
				continue
			}
			want := map[string]bool{}
			for _, i := range a.byKey[key] {
				want[a.entries[i].Brand.ID] = true
			}
			questions = append(questions, question{kind: kind, text: text, want: want})
			made++
		}
	}
	return questions
}

// typing returns the shortest prefix of a name that at most five other names share.
func (a asker) typing(words []string) string {
	name := strings.Join(words, " ")
	for n := 4; n < len(name); n++ {
		at, _ := slices.BinarySearch(a.keys, name[:n])
		if name[n-1] != ' ' && (at+6 >= len(a.keys) || !strings.HasPrefix(a.keys[at+6], name[:n])) {
			return name[:n]
		}
	}
	return ""
}

// middle returns two adjacent words that follow a name's first word, at least one of which is rare.
func (a asker) middle(words []string) string {
	if len(words) < 3 {
		return ""
	}
	at := 1 + a.random.IntN(len(words)-2)
	if min(a.rare[words[at]], a.rare[words[at+1]]) > 8 || len(words[at])+len(words[at+1]) < 8 {
		return ""
	}
	return words[at] + " " + words[at+1]
}

// acronym returns a name's initials, including those of small words, if few names share them and no name begins with
// them.
func (a asker) acronym(words []string) string {
	short := initialsOf(words)
	at, _ := slices.BinarySearch(a.keys, short)
	if len(short) < 4 || len(short) > 6 || a.known[short] > 2 || at < len(a.keys) && strings.HasPrefix(a.keys[at], short) {
		return ""
	}
	return short
}

// initialsOf returns a name's initials without a leading article. A name with a degree or a legal form has no initials.
func initialsOf(words []string) string {
	var short []byte
	for i, word := range words {
		if i == 0 && word == "the" {
			continue
		}
		switch word {
		case "md", "do", "dr", "dpm", "od", "llc", "inc", "pc", "pa", "pllc", "llp", "ltd", "corp", "co", "sc", "psc", "lp",
			"plc", "dba", "mdpa", "mdpc", "incorporated", "corporation":
			return ""
		}
		short = append(short, word[0])
	}
	return string(short)
}

func (a asker) telling(words []string) string {
	if len(words) < 3 {
		return ""
	}
	sorted := slices.SortedStableFunc(slices.Values(words),
		func(v, w string) int { return cmp.Compare(a.rare[v], a.rare[w]) })
	if len(sorted[0])+len(sorted[1]) < 8 || a.rare[sorted[0]] > 8 {
		return ""
	}
	return sorted[0] + " " + sorted[1]
}

// mistype makes the given number of edits in a word of at least the given length.
func (a asker) mistype(words []string, edits, least int) string {
	words = slices.Clone(words)
	at := a.random.IntN(len(words))
	if len(words[at]) < least || strings.ContainsAny(words[at], "0123456789") {
		return ""
	}
	for range edits {
		words[at] = a.edited(words[at])
	}
	return strings.Join(words, " ")
}

// mistyping returns a name whose last word is misspelt and incomplete.
func (a asker) mistyping(words []string) string {
	at := slices.IndexFunc(words, func(w string) bool { return len(w) >= 8 && a.rare[w] <= 8 })
	if at < 0 {
		return ""
	}
	said := slices.Clone(words[:at+1])
	said[at] = a.edited(said[at][:len(said[at])-2])
	return strings.Join(said, " ")
}

func (a asker) edited(word string) string {
	c := string(rune('a' + a.random.IntN(26)))
	at := a.random.IntN(len(word) - 1)
	switch a.random.IntN(4) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at] + c + word[at:]
	case 2:
		return word[:at] + c + word[at+1:]
	default:
		return word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
	}
}

// abbreviate abbreviates every word that has an abbreviation, and expands existing abbreviations.
func (a asker) abbreviate(words []string) string {
	said, isShort := slices.Clone(words), false
	for i, word := range said {
		if others := a.shorts[word]; len(others) > 0 {
			said[i], isShort = others[a.random.IntN(len(others))], true
		}
	}
	if !isShort || len(words) < 2 {
		return ""
	}
	return strings.Join(said, " ")
}

func (a asker) shuffle(words []string) string {
	if len(words) < 3 {
		return ""
	}
	said := slices.Clone(words)
	a.random.Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
	return strings.Join(said, " ")
}

func (a asker) join(words []string) string {
	if len(words) < 2 {
		return ""
	}
	at := a.random.IntN(len(words) - 1)
	return strings.Join(words[:at+1], " ") + strings.Join(words[at+1:], " ")
}

func (a asker) split(words []string) string {
	words = slices.Clone(words)
	at := a.random.IntN(len(words))
	if len(words[at]) < 7 {
		return ""
	}
	middle := 3 + a.random.IntN(len(words[at])-5)
	words[at] = words[at][:middle] + " " + words[at][middle:]
	return strings.Join(words, " ")
}

func (a asker) withState(e search.Entry) (text, key string) {
	states := statesOf(e)
	if len(states) == 0 {
		return "", ""
	}
	said := strings.ToLower(states[0])
	if a.random.IntN(2) == 0 {
		said = geo.StateName(states[0])
	}
	return e.Brand.Name + " " + said, keyOf(e.Brand.Name) + "|" + states[0]
}

func (a asker) withPlace(e search.Entry) (text, key string) {
	if len(e.Brand.Locations) == 0 {
		return "", ""
	}
	l := e.Brand.Locations[0]
	said := cmp.Or(l.City, l.PostalCode)
	if said == "" {
		return "", ""
	}
	return e.Brand.Name + " " + said, keyOf(e.Brand.Name) + "|" + said
}
