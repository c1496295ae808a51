package ccdatest_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

func readXML(t *testing.T, document []byte) *element {
	t.Helper()
	root := &element{}
	open := []*element{root}
	for decoder := xml.NewDecoder(bytes.NewReader(document)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		within := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			within.children = append(within.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			within.text += string(token)
		}
	}
	return root.children[0]
}

// all returns the elements at the given path below e. Each segment is the name of a child element, and "*" matches any
// child.
func (e *element) all(path ...string) []*element {
	found := []*element{e}
	for _, name := range path {
		var next []*element
		for _, f := range found {
			for _, c := range f.children {
				if name == "*" || c.name == name {
					next = append(next, c)
				}
			}
		}
		found = next
	}
	return found
}

// first returns the first element at the given path, or an empty element if there is none.
func (e *element) first(path ...string) *element {
	if found := e.all(path...); len(found) > 0 {
		return found[0]
	}
	return &element{}
}

// below returns all descendants with one of the given names, including nested matches.
func (e *element) below(names ...string) []*element {
	var found []*element
	for _, c := range e.children {
		if slices.Contains(names, c.name) {
			found = append(found, c)
		}
		found = append(found, c.below(names...)...)
	}
	return found
}

// words returns the text of the element and its descendants with normalised white space.
func (e *element) words() string {
	all := strings.Fields(e.text)
	for _, c := range e.children {
		all = append(all, strings.Fields(c.words())...)
	}
	return strings.Join(all, " ")
}
