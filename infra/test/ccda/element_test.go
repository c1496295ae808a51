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

// element is an XML element, by local names.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

// readXML reads a document in UTF-8.
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

// all lists the elements that a path leads to: each name is of a child, "*" of any.
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

// first is the first of all, or an empty element.
func (e *element) first(path ...string) *element {
	if found := e.all(path...); len(found) > 0 {
		return found[0]
	}
	return &element{}
}

// below lists all descendants of the names, those of each found one, too.
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

// words are the text of an element and of all in it, in plain words.
func (e *element) words() string {
	all := strings.Fields(e.text)
	for _, c := range e.children {
		all = append(all, strings.Fields(c.words())...)
	}
	return strings.Join(all, " ")
}
