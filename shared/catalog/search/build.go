package search

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"recordbridge/shared/catalog/names"
)

// Build makes the index of brands, in whichever order they come: those of one mode that can be found (Entries). The same brands make the
// same bytes. The error is a source that cannot be told in JSON, or more brands than an index has.
func Build(entries []Entry) (*Index, error) {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Brand.SortName, b.Brand.SortName), cmp.Compare(a.Brand.ID, b.Brand.ID))
	})
	b := builder{places: map[string][]uint32{}, names: nil, facets: [3]map[string]uint32{}, states: states()}
	b.number(entries)
	x := &Index{}
	ids, sortNames, bodies := make([]string, len(entries)), make([]string, len(entries)), make([][]byte, len(entries))
	for i, e := range entries {
		ids[i], sortNames[i] = e.Brand.ID, e.Brand.SortName
		b.brand(uint32(i), e) //nolint:gosec // maxBrands
		x.ofPlatform.add(b.numbers(0, platformsOf(e)))
		x.inState.add(b.numbers(1, statesOf(e)))
		x.atZIP.add(b.numbers(2, zipsOf(e)))
		body, err := json.Marshal(sourceOf(e))
		if err != nil {
			return nil, fmt.Errorf("search: source of %s: %w", e.Brand.ID, err)
		}
		bodies[i] = body
	}
	x.ids.add(ids...)
	x.sortNames.add(sortNames...)
	x.platforms, x.states, x.zips = b.facet(0), b.facet(1), b.facet(2)
	b.fill(x)
	if err := x.pack(bodies); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.prepare()
	return x, nil
}

// builder collects words and facets.
type builder struct {
	places map[string][]uint32 // by word
	names  [][]string          // by brand; an empty word ends a name
	facets [3]map[string]uint32
	states map[string]string // names, by codes
}

// brand adds the words of a brand: of its name and aliases, and of where it is.
func (b *builder) brand(number uint32, e Entry) {
	var tokens []string
	for _, name := range namesOf(e) {
		words := indexed(name)
		for _, word := range words {
			b.add(word, number, min(len(tokens), maxPosition))
			tokens = append(tokens, word)
		}
		tokens = append(tokens, "")
		if short := firstLetters(words); short != "" {
			b.add(short, number, initials)
		}
	}
	b.names = append(b.names, tokens)
	for _, l := range e.Brand.Locations {
		for _, word := range slices.Concat(indexed(l.City), indexed(l.State), []string{joined(b.states[strings.ToUpper(l.State)]), zipOf(l.PostalCode)}) {
			if word != "" {
				b.add(word, number, location)
			}
		}
	}
}

func (b *builder) add(word string, brand uint32, position int) {
	p := placeOf(brand, position)
	if !slices.Contains(b.places[word][max(0, len(b.places[word])-maxOften):], p) {
		b.places[word] = append(b.places[word], p)
	}
}

// maxOften is how far back it is looked whether a word of a brand is there already: a brand has few locations.
const maxOften = 64

// namesOf are the name and the aliases of a brand, each once.
func namesOf(e Entry) []string {
	seen := map[string]bool{}
	var found []string
	for _, name := range append([]string{e.Brand.Name}, e.Brand.Aliases...) {
		if key := strings.Join(names.Words(name), " "); !seen[key] {
			seen[key] = true
			found = append(found, name)
		}
	}
	return found
}

// indexed are the words of a name, cut to what a search can have.
func indexed(text string) []string {
	words := names.Words(text)
	for i, word := range words {
		words[i] = clipped(word)
	}
	return words
}

// joined is a text as one word, as a search finds neighbouring words: "newjersey".
func joined(text string) string { return strings.Join(names.Words(text), "") }

// firstLetters are the initials that a name of three to six words may be known by.
func firstLetters(words []string) string {
	var short []byte
	for _, word := range words {
		if len(word) > 0 && !isFiller(word) {
			short = append(short, word[0])
		}
	}
	if len(short) < 3 || len(short) > 6 {
		return ""
	}
	return string(short)
}

func platformsOf(e Entry) []string { return append([]string{e.Brand.PlatformType}, e.Platforms...) }

func statesOf(e Entry) []string {
	var states []string
	for _, l := range e.Brand.Locations {
		states = append(states, strings.ToUpper(l.State))
	}
	return states
}

func zipsOf(e Entry) []string {
	var zips []string
	for _, l := range e.Brand.Locations {
		zips = append(zips, zipOf(l.PostalCode))
	}
	return zips
}

// zipOf is a ZIP without its four digits more.
func zipOf(postalCode string) string {
	zip, _, _ := strings.Cut(strings.TrimSpace(postalCode), "-")
	if len(zip) == 9 {
		zip = zip[:5]
	}
	return clipped(joined(zip))
}

// number gives each facet its number, by order.
func (b *builder) number(entries []Entry) {
	for i, of := range []func(Entry) []string{platformsOf, statesOf, zipsOf} {
		var all []string
		for _, e := range entries {
			all = append(all, of(e)...)
		}
		slices.Sort(all)
		b.facets[i] = map[string]uint32{}
		for _, value := range slices.Compact(all) {
			if value != "" {
				b.facets[i][value] = uint32(len(b.facets[i])) //nolint:gosec // maxBrands
			}
		}
	}
}

func (b *builder) numbers(facet int, values []string) []uint32 {
	var numbers []uint32
	for _, value := range values {
		if n, ok := b.facets[facet][value]; ok && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func (b *builder) facet(i int) texts {
	values := make([]string, len(b.facets[i]))
	for value, n := range b.facets[i] {
		values[n] = value
	}
	var t texts
	t.add(values...)
	return t
}

// fill writes words, places and names.
func (b *builder) fill(x *Index) {
	words := make([]string, 0, len(b.places))
	for word := range b.places {
		words = append(words, word)
	}
	slices.Sort(words)
	numbers := make(map[string]uint32, len(words))
	for i, word := range words {
		numbers[word] = uint32(i) //nolint:gosec // maxSize
		places := b.places[word]
		slices.Sort(places)
		x.places.add(places)
	}
	x.words.add(words...)
	for _, tokens := range b.names {
		row := make([]uint32, len(tokens))
		for i, word := range tokens {
			row[i] = endOfName
			if word != "" {
				row[i] = numbers[word]
			}
		}
		x.names.add(row)
	}
}

func (t *texts) add(values ...string) {
	var all strings.Builder
	all.WriteString(t.bytes)
	for _, value := range values {
		all.WriteString(value)
		t.ends = binary.LittleEndian.AppendUint32(t.ends, uint32(all.Len())) //nolint:gosec // maxSize
	}
	t.bytes = all.String()
}

func (r *rows) add(values []uint32) {
	for _, v := range values {
		r.values = binary.LittleEndian.AppendUint32(r.values, v)
	}
	r.ends = binary.LittleEndian.AppendUint32(r.ends, uint32(r.values.len())) //nolint:gosec // maxSize
}

// presetSize is how much of other sources a source is compressed against. More makes an index a little smaller and each hit slower.
const presetSize = 8 << 10

// pack compresses sources one by one, so that a hit needs no other: most of a source stands in many.
func (x *Index) pack(bodies [][]byte) error {
	var preset []byte
	for i := 0; i < len(bodies) && len(preset) < presetSize; i += max(1, len(bodies)/64) {
		preset = append(preset, bodies[i]...)
	}
	preset = preset[:min(len(preset), presetSize)]
	x.preset.add(string(preset))
	var packed bytes.Buffer
	w, err := flate.NewWriterDict(&packed, flate.BestCompression, preset)
	if err != nil {
		return fmt.Errorf("search: compressing: %w", err)
	}
	all := make([]string, 0, len(bodies))
	for _, body := range bodies {
		packed.Reset()
		w.Reset(&packed)
		if _, err := w.Write(body); err != nil {
			return fmt.Errorf("search: compressing: %w", err)
		}
		if err := w.Close(); err != nil {
			return fmt.Errorf("search: compressing: %w", err)
		}
		all = append(all, packed.String())
	}
	x.sources.add(all...)
	return nil
}

// maxSource bounds a source as it is read: one that has been damaged could be of any size.
const maxSource = 4 << 20

// source is that of a brand.
func (x *Index) source(brand uint32) (json.RawMessage, error) {
	packed := strings.NewReader(x.sources.at(brand))
	preset := []byte(x.preset.at(0))
	r, ok := x.readers.Get().(io.ReadCloser)
	if ok {
		if err := r.(flate.Resetter).Reset(packed, preset); err != nil { //nolint:forcetypeassert // flate's readers are
			return nil, fmt.Errorf("search: source: %w", err)
		}
	} else {
		r = flate.NewReaderDict(packed, preset)
	}
	body, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil || len(body) > maxSource {
		return nil, fmt.Errorf("%w: a source: %w", errForm, err)
	}
	x.readers.Put(r)
	return body, nil
}
