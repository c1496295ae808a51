package search

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog/geo"
	"recordbridge/shared/catalog/names"
	"recordbridge/shared/catalog/record"
)

// Build builds an index of brands. The entries must be a single mode's searchable brands (see Entries). The same
// brands, in any order, always produce the same bytes. Build fails if a source can't be encoded in JSON, if two brands
// have the same ID, or if there are too many brands.
func Build(entries []Entry) (*Index, error) {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Brand.SortName, b.Brand.SortName), cmp.Compare(a.Brand.ID, b.Brand.ID))
	})
	x := &Index{}
	b := builder{places: map[string][]uint32{}, states: geo.States()}
	ids, sortNames, sources := make([]string, len(entries)), make([]string, len(entries)), make([]string, len(entries))
	for i, e := range entries {
		ids[i], sortNames[i] = e.Brand.ID, e.Brand.SortName
		b.add(uint32(i), e)
		source, err := json.Marshal(sourceOf(e))
		if err != nil {
			return nil, fmt.Errorf("search: source of %s: %w", e.Brand.ID, err)
		}
		sources[i] = string(source)
	}
	x.ids, x.sortNames = textsOf(ids), textsOf(sortNames)
	x.platforms, x.ofPlatform = facet(entries, platformsOf)
	x.states, x.inState = facet(entries, statesOf)
	x.zips, x.atZIP = facet(entries, zipsOf)
	b.finish(x)
	if err := x.pack(sources); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.prepare()
	return x, nil
}

type builder struct {
	places map[string][]uint32 // each word's occurrences (see place)
	names  [][]string          // each brand's words; an empty word marks the end of a name
	states map[string]string   // state names, keyed by code
}

// add adds the words in a brand's names and locations.
func (b *builder) add(brand uint32, e Entry) {
	var row []string
	for _, name := range namesOf(e.Brand) {
		words := wordsOf(name)
		for _, word := range words {
			b.stands(word, brand, min(len(row), maxPosition))
			row = append(row, word)
		}
		row = append(row, "")
		for _, short := range acronyms(words) {
			b.stands(short, brand, initials)
		}
	}
	b.names = append(b.names, row)
	for _, l := range e.Brand.Locations {
		state := stateOf(l)
		words := append(wordsOf(l.City), joined(state), joined(b.states[state]), joined(zipOf(l)))
		for _, word := range words {
			if word != "" {
				b.stands(word, brand, location)
			}
		}
	}
}

func (b *builder) stands(word string, brand uint32, position int) {
	b.places[word] = append(b.places[word], brand<<placeBits|uint32(position)) //nolint:gosec // G115: a byte
}

// finish stores the collected words, their occurrences and the names in x.
func (b *builder) finish(x *Index) {
	words := make([]string, 0, len(b.places))
	for word := range b.places {
		words = append(words, word)
	}
	slices.Sort(words)
	places := make([][]uint32, len(words))
	numbers := map[string]uint32{"": endOfName}
	for i, word := range words {
		numbers[word] = uint32(i)
		slices.Sort(b.places[word])
		places[i] = slices.Compact(b.places[word])
	}
	rows := make([][]uint32, len(b.names))
	for i, row := range b.names {
		for _, word := range row {
			rows[i] = append(rows[i], numbers[word])
		}
	}
	x.words, x.places, x.names = textsOf(words), rowsOf(places), rowsOf(rows)
}

func namesOf(b record.Brand) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(append([]string{b.Name}, b.Aliases...), func(name string) bool {
		key := strings.Join(names.Words(name), " ")
		before := seen[key]
		seen[key] = true
		return before
	})
}

// joined returns a text as a single word, such as "newjersey", which is then compared with adjacent words.
func joined(text string) string { return clipped(strings.Join(names.Words(text), "")) }

func zipOf(l record.Location) string {
	if zip, ok := geo.ZIP(l.PostalCode); ok {
		return zip
	}
	return l.PostalCode
}

func stateOf(l record.Location) string {
	return cmp.Or(strings.ToUpper(l.State), geo.State(l.PostalCode))
}

func platformsOf(e Entry) []string { return append([]string{e.Brand.PlatformType}, e.Platforms...) }

func statesOf(e Entry) []string { return ofLocations(e, stateOf) }

func zipsOf(e Entry) []string { return ofLocations(e, zipOf) }

func ofLocations(e Entry, of func(record.Location) string) []string {
	values := make([]string, len(e.Brand.Locations))
	for i, l := range e.Brand.Locations {
		values[i] = of(l)
	}
	return values
}

// facet returns the distinct values of entries, and the indexes of each entry's values.
func facet(entries []Entry, of func(Entry) []string) (texts, rows) {
	seen := map[string]bool{}
	for _, e := range entries {
		for _, value := range of(e) {
			seen[value] = true
		}
	}
	delete(seen, "")
	values := make([]string, 0, len(seen))
	for value := range seen {
		values = append(values, value)
	}
	slices.Sort(values)
	lists := make([][]uint32, len(entries))
	for i, e := range entries {
		for _, value := range of(e) {
			if at, ok := slices.BinarySearch(values, value); ok {
				lists[i] = append(lists[i], uint32(at)) //nolint:gosec // G115: maxSize
			}
		}
		slices.Sort(lists[i])
		lists[i] = slices.Compact(lists[i])
	}
	return textsOf(values), rowsOf(lists)
}

func textsOf(values []string) texts {
	var ends []byte
	var all strings.Builder
	for _, value := range values {
		all.WriteString(value)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(all.Len())) //nolint:gosec // G115: maxSize
	}
	return texts{ends: string(ends), bytes: all.String()}
}

func rowsOf(lists [][]uint32) rows {
	var ends, all []byte
	for _, list := range lists {
		for _, v := range list {
			all = binary.LittleEndian.AppendUint32(all, v)
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(all)/numberLen)) //nolint:gosec // G115: maxSize
	}
	return rows{ends: string(ends), values: string(all)}
}
