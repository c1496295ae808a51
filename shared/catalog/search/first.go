package search

import "slices"

// firstScore is the minimum score of a brand in Query.First. This score exceeds that of any other brand.
const firstScore = 2 * aboveAll

// Numbers returns the numbers of the brands with the given IDs, for use in Query.First. The numbers are in the order of
// the IDs, omit unknown IDs, and are valid only for this index.
func (x *Index) Numbers(ids []string) []uint32 {
	if len(ids) == 0 {
		return nil
	}
	at := make(map[string]uint32, len(ids))
	for b := range x.ids.len() {
		if id := x.ids.at(b); slices.Contains(ids, id) {
			at[id] = b
		}
	}
	numbers := make([]uint32, 0, len(at))
	for _, id := range ids {
		if b, ok := at[id]; ok && !slices.Contains(numbers, b) {
			numbers = append(numbers, b)
		}
	}
	return numbers
}

// lift makes the given brands precede all others, in the given order, by raising their scores.
func lift(found []ranked, first []uint32) {
	for i, r := range found {
		if at := slices.Index(first, r.brand); at >= 0 {
			found[i].score = firstScore + float64(len(first)-at)
		}
	}
}
