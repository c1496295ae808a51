package r4

import (
	"slices"
	"strings"
)

// IsKept reports whether a reference points to a resource.
func IsKept(ref *Reference) bool { return ref != nil && ref.Reference != "" }

// ReferenceSet is an ordered list of references without duplicates.
type ReferenceSet struct {
	List []Reference
	seen map[string]bool
}

// Add adds a reference if it points to a resource and is not yet in the set.
func (l *ReferenceSet) Add(r Reference) {
	if !IsKept(&r) {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[r.Reference] {
		l.seen[r.Reference] = true
		l.List = append(l.List, r)
	}
}

// AppendReference appends the references that list does not yet contain.
func AppendReference(list []Reference, more ...Reference) []Reference {
	for _, m := range more {
		if !slices.ContainsFunc(list, func(r Reference) bool { return r.Reference == m.Reference }) {
			list = append(list, m)
		}
	}
	return list
}

// OfType returns the references to resources of the given types.
func OfType(list []Reference, types ...string) []Reference {
	var some []Reference
	for _, r := range list {
		if kind, _, _ := strings.Cut(r.Reference, "/"); slices.Contains(types, kind) {
			some = append(some, r)
		}
	}
	return some
}

// Without returns a copy of the list without references equal to one.
func Without(list []Reference, one *Reference) []Reference {
	var others []Reference
	for _, r := range list {
		if r.Reference != one.Reference {
			others = append(others, r)
		}
	}
	return others
}
