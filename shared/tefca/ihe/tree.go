package ihe

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// Limits on the structure of an untrusted response. The response's size is limited when it is read.
const (
	maxDepth      = 64 // maximum depth of nested elements; discovery responses have a depth of about 15
	maxElements   = 200_000
	maxAttributes = 32 // maximum number of attributes per element
)

var (
	errXML   = errors.New("no well-formed XML of this protocol")
	errShape = errors.New("an element is missing, or is there more than once")
)

// element is an XML element with a namespaced name. All methods accept a nil receiver, which represents a missing
// element.
type element struct {
	name       xml.Name
	attributes []xml.Attr
	text       []byte // the element's own text, without its children's
	children   []*element
	shape      *bool // shared by all elements; set if a required single element was missing or duplicated
}

// parse parses an XML document. It rejects text that is not UTF-8. It also rejects document type declarations, so only
// XML's five predefined entities can occur.
func parse(document []byte) (*element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	broken := false
	top := &element{shape: &broken}
	open := []*element{top}
	for count := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errXML
		}
		last := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if count++; count > maxElements || len(open) > maxDepth || !sound(t.Attr) || last == top && len(top.children) > 0 {
				return nil, errXML
			}
			next := &element{name: t.Name, attributes: slices.Clone(t.Attr), shape: &broken}
			last.children = append(last.children, next)
			open = append(open, next)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text = append(last.text, t...)
		case xml.Directive:
			return nil, errXML
		case xml.ProcInst:
			if t.Target != "xml" {
				return nil, errXML
			}
		}
	}
	if len(top.children) != 1 || len(bytes.TrimSpace(top.text)) > 0 {
		return nil, errXML
	}
	return top.children[0], nil
}

// sound reports whether the number of attributes is within the limit and all attribute names are distinct. encoding/xml
// does not check for duplicates.
func sound(attributes []xml.Attr) bool {
	if len(attributes) > maxAttributes { // The number is checked first, because the check for duplicates is quadratic.
		return false
	}
	for i, a := range attributes {
		if slices.ContainsFunc(attributes[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return false
		}
	}
	return true
}

// detached separates the element and its descendants from the rest of the document, so that a defect in them leaves the
// rest readable.
func (e *element) detached() *element {
	e.share(new(bool))
	return e
}

func (e *element) share(shape *bool) {
	e.shape = shape
	for _, child := range e.children { // Recursion is limited to maxDepth levels.
		child.share(shape)
	}
}

func (e *element) is(space, name string) bool {
	return e != nil && e.name.Space == space && e.name.Local == name
}

// all returns the children with the given name.
func (e *element) all(space, name string) []*element {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.children), func(c *element) bool { return !c.is(space, name) })
}

// optionalChild returns the child with the given name, or nil if there is none. A duplicate child element makes the
// document malformed, because another parser might read the other element.
func (e *element) optionalChild(space, name string) *element {
	found := e.all(space, name)
	if len(found) > 1 {
		*e.shape = true
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// only returns the child with the given name. A missing or duplicate child element makes the document malformed.
func (e *element) only(space, name string) *element {
	found := e.optionalChild(space, name)
	if found == nil && e != nil {
		*e.shape = true
	}
	return found
}

// attribute returns the value of an attribute without a namespace.
func (e *element) attribute(name string) string {
	if e == nil {
		return ""
	}
	for _, a := range e.attributes {
		if a.Name.Space == "" && a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// words returns the element's text with surrounding space trimmed.
func (e *element) words() string {
	if e == nil {
		return ""
	}
	return string(bytes.TrimSpace(e.text))
}

// shapeError returns an error if any child accessed so far was missing or duplicated.
func (e *element) shapeError() error {
	if *e.shape {
		return errShape
	}
	return nil
}
