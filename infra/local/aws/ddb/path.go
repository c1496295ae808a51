package ddb

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const noIndex = -1

// step is one element of a document path: an attribute or map key, or (index ≥ 0) a position in a list.
type step struct {
	name  string
	index int
}

// path is a document path; its first step is always a name.
type path []step

// String is the path as AWS's messages show it: [a, b, [0]].
func (p path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.name
		if s.index != noIndex {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// comparePaths orders paths so that of two positions in one list the later one is greater.
func comparePaths(a, b path) int {
	return slices.CompareFunc(a, b, func(x, y step) int {
		return cmp.Or(cmp.Compare(x.index, y.index), cmp.Compare(x.name, y.name))
	})
}

func (p path) get(it item) (value, bool) {
	v, ok := it[p[0].name]
	for _, s := range p[1:] {
		if !ok {
			return value{}, false
		}
		v, ok = v.child(s)
	}
	return v, ok
}

func (v value) child(s step) (value, bool) {
	if s.index == noIndex {
		child, ok := v.fields[s.name]
		return child, ok
	}
	if s.index >= len(v.list) {
		return value{}, false
	}
	return v.list[s.index], true
}

func errBadPath() error {
	return invalidf("The document path provided in the update expression is invalid for update")
}

// set writes v at the path of it, which is the caller's own copy; what lies below is copied and not modified, because
// items share values.
func (p path) set(it item, v value) error {
	if len(p) == 1 {
		it[p[0].name] = v
		return nil
	}
	root, ok := it[p[0].name]
	if !ok {
		return errBadPath()
	}
	changed, err := root.with(p[1:], v)
	if err != nil {
		return err
	}
	it[p[0].name] = changed
	return nil
}

func (v value) with(p path, leaf value) (value, error) {
	if v.kind != containerOf(p[0]) {
		return value{}, errBadPath()
	}
	if len(p) > 1 {
		child, ok := v.child(p[0])
		if !ok {
			return value{}, errBadPath()
		}
		var err error
		if leaf, err = child.with(p[1:], leaf); err != nil {
			return value{}, err
		}
	}
	if v.kind == typeMap {
		v.fields = maps.Clone(v.fields)
		if v.fields == nil {
			v.fields = item{}
		}
		v.fields[p[0].name] = leaf
		return v, nil
	}
	v.list = slices.Clone(v.list)
	if p[0].index >= len(v.list) {
		v.list = append(v.list, leaf)
	} else {
		v.list[p[0].index] = leaf
	}
	return v, nil
}

// remove deletes what the path points to; nothing there is no error, but a path through nothing is.
func (p path) remove(it item) error {
	if len(p) == 1 {
		delete(it, p[0].name)
		return nil
	}
	parent, ok := p[:len(p)-1].get(it)
	last := p[len(p)-1]
	if !ok || parent.kind != containerOf(last) {
		return errBadPath()
	}
	if _, ok = parent.child(last); !ok {
		return nil
	}
	if parent.kind == typeMap {
		parent.fields = maps.Clone(parent.fields)
		delete(parent.fields, last.name)
	} else {
		parent.list = slices.Delete(slices.Clone(parent.list), last.index, last.index+1)
	}
	return p[:len(p)-1].set(it, parent)
}

func containerOf(s step) string {
	if s.index == noIndex {
		return typeMap
	}
	return typeList
}
