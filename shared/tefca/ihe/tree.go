package ihe

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// What is read of an answer is bounded, since it comes from outside; its bytes are bounded where it is read.
const (
	maxDepth      = 64 // elements in each other; discovery answers have about 15
	maxElements   = 200_000
	maxAttributes = 32 // of one element
)

var (
	errXML   = errors.New("no well-formed XML of this protocol")
	errShape = errors.New("an element is missing, or is there more than once")
)

// element is an XML element with its name in its namespace. All methods work on nil, which is an
// element that is not there.
type element struct {
	name       xml.Name
	attributes []xml.Attr
	text       []byte // its own, not its children's
	children   []*element
	shape      *bool // of the whole document: whether something was not there exactly once
}

// parse reads a document. Document types are refused, so that no entity is ever declared; of entities there are the
// five of XML. Text other than UTF-8 is refused.
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

// sound reports whether there are not too many attributes and none twice, which encoding/xml does not look at.
func sound(attributes []xml.Attr) bool {
	if len(attributes) > maxAttributes { // first: comparing takes the square of their number
		return false
	}
	for i, a := range attributes {
		if slices.ContainsFunc(attributes[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return false
		}
	}
	return true
}

// apart gives an element and its descendants a shape of their own, so that a flaw within leaves the rest
// of the document readable.
func (e *element) apart() *element {
	e.share(new(bool))
	return e
}

func (e *element) share(shape *bool) {
	e.shape = shape
	for _, child := range e.children { // to maxDepth
		child.share(shape)
	}
}

// is reports whether an element has a name.
func (e *element) is(space, name string) bool {
	return e != nil && e.name.Space == space && e.name.Local == name
}

// all lists the children of a name.
func (e *element) all(space, name string) []*element {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.children), func(c *element) bool { return !c.is(space, name) })
}

// perhaps is the child of a name, nil if there is none. With two of them the document is out of shape: whoever else
// reads it could mean the other.
func (e *element) perhaps(space, name string) *element {
	found := e.all(space, name)
	if len(found) > 1 {
		*e.shape = true
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// only is the child of a name. Without one the document is out of shape, too.
func (e *element) only(space, name string) *element {
	found := e.perhaps(space, name)
	if found == nil && e != nil {
		*e.shape = true
	}
	return found
}

// attribute is the value of an attribute that is in no namespace.
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

// words is the text of an element without the space around it.
func (e *element) words() string {
	if e == nil {
		return ""
	}
	return string(bytes.TrimSpace(e.text))
}

// wellShaped tells whether all that was looked for so far was there as often as it had to.
func (e *element) wellShaped() error {
	if *e.shape {
		return errShape
	}
	return nil
}
