package clinical

import (
	"maps"
	"slices"
)

// Difference holds the changes between two sets of facts.
type Difference struct {
	Added   []Fact   `json:"added"`
	Removed []Fact   `json:"removed"`
	Changed []Change `json:"changed"`
}

// Change is a fact whose values differ between the two sets.
type Change struct {
	Fact // fact before the change

	Parts map[string]Sides `json:"parts"` // differing values by element path
}

// Sides holds one element's values before and after the change.
type Sides struct {
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// Equal reports whether the two sets contain the same facts.
func (d Difference) Equal() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) == 0 }

// Compare pairs facts in three passes: identical facts, then facts with the same type, code and time, and finally facts
// with the same type and code. Unpaired facts count as added or removed.
func Compare(before, after []Fact) Difference {
	d := Difference{Added: []Fact{}, Removed: []Fact{}, Changed: []Change{}}
	removed, added := slices.Clone(before), slices.Clone(after)
	for _, alike := range []func(a, b Fact) bool{
		func(a, b Fact) bool { return a.named(b) && a.Time == b.Time && len(parts(a, b)) == 0 },
		func(a, b Fact) bool { return a.named(b) && a.Time == b.Time },
		func(a, b Fact) bool { return a.named(b) },
	} {
		removed = slices.DeleteFunc(removed, func(a Fact) bool {
			at := slices.IndexFunc(added, func(b Fact) bool { return alike(a, b) })
			if at < 0 {
				return false
			}
			if changed := parts(a, added[at]); len(changed) > 0 {
				d.Changed = append(d.Changed, Change{Fact: a, Parts: changed})
			}
			added = slices.Delete(added, at, at+1)
			return true
		})
	}
	d.Added, d.Removed = append(d.Added, added...), append(d.Removed, removed...)
	return d
}

func (f Fact) named(other Fact) bool { return f.Type == other.Type && f.Code == other.Code }

// parts returns the elements whose values differ between two facts, by path.
func parts(before, after Fact) map[string]Sides {
	differ := map[string]Sides{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(before.parts)), slices.Collect(maps.Keys(after.parts))) {
		if a, b := before.parts[name], after.parts[name]; !slices.Equal(a, b) {
			differ[name] = Sides{Before: a, After: b}
		}
	}
	return differ
}
