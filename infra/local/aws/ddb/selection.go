package ddb

import (
	"maps"
	"slices"
)

// selection is a set of document paths as a tree: whole, or parts by name and by position.
type selection struct {
	whole     bool
	names     map[string]*selection
	positions map[int]*selection
}

// project returns the parts of it that paths name, in the structure that they have in it; nil paths name everything.
// Lists close up: of l[3] and l[1] the answer has two elements, in the list's order.
func project(it item, paths []path) item {
	if paths == nil || it == nil {
		return it
	}
	root := &selection{}
	for _, p := range paths {
		root.add(p)
	}
	picked, ok := root.pick(value{kind: typeMap, fields: it})
	if !ok {
		return item{}
	}
	return picked.fields
}

func (s *selection) add(p path) {
	if len(p) == 0 {
		s.whole = true
		return
	}
	if p[0].index == noIndex {
		s.names = addTo(s.names, p[0].name, p[1:])
	} else {
		s.positions = addTo(s.positions, p[0].index, p[1:])
	}
}

func addTo[K comparable](children map[K]*selection, at K, rest path) map[K]*selection {
	if children == nil {
		children = map[K]*selection{}
	}
	if children[at] == nil {
		children[at] = &selection{}
	}
	children[at].add(rest)
	return children
}

// pick returns the selected parts of v; ok is false when there are none.
func (s *selection) pick(v value) (picked value, ok bool) {
	if s.whole {
		return v, true
	}
	picked.kind = v.kind
	for name, part := range s.names {
		child, found := v.fields[name]
		if !found {
			continue
		}
		if child, found = part.pick(child); found {
			if picked.fields == nil {
				picked.fields = item{}
			}
			picked.fields[name] = child
			ok = true
		}
	}
	for _, position := range slices.Sorted(maps.Keys(s.positions)) {
		if position >= len(v.list) {
			break
		}
		if child, found := s.positions[position].pick(v.list[position]); found {
			picked.list = append(picked.list, child)
			ok = true
		}
	}
	return picked, ok
}
