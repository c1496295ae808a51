// Package cda reads a C-CDA document (HL7 CDA R2) from XML into a tree and finds its way around it: elements, codes,
// ids, times, templates and clinical statements. It knows nothing of FHIR.
package cda

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// ErrInvalid reports a document that cannot be converted at all: it is not well-formed XML, has no ClinicalDocument, is
// too large or nested too deeply. Its text contains nothing of the document.
var ErrInvalid = errors.New("ccda: invalid document")

// What is read of a document is bounded, since it comes from outside.
const (
	maxDocument = 64 << 20 // bytes
	maxDepth    = 256      // elements in each other; the deepest real documents have about 40
	maxNodes    = 4 << 20  // elements, texts and attributes
	// elements in one that is no narrative, but for entries; parts of one fact are compared with each other
	maxChildren = 2000
)

var (
	errSize  = fmt.Errorf("%w: too large", ErrInvalid)
	errDepth = fmt.Errorf("%w: nested too deeply", ErrInvalid)
	errXML   = fmt.Errorf("%w: no well-formed XML", ErrInvalid)
	errCDA   = fmt.Errorf("%w: no ClinicalDocument", ErrInvalid)
)

// Node is an element, or a text inside one. Names have no prefix: documents differ in prefixes, and the extensions of
// C-CDA (sdtc) have names of their own or add to a list of the same name (raceCode). All methods accept nil, which
// stands for a missing element.
type Node struct {
	Name   string // empty of a text
	Text   string // of a text
	attrs  []attribute
	Parent *Node
	First  *Node // child
	Next   *Node // sibling
	Number int32 // in the document, from 0
}

type attribute struct{ name, value string }

// arena allocates nodes by the hundred, which takes less time and memory than one by one.
type arena struct {
	nodes []Node
	count int32 // of nodes
	attrs []attribute
	used  int
}

func (a *arena) node() *Node {
	if len(a.nodes) == cap(a.nodes) {
		a.nodes = make([]Node, 0, 512)
	}
	a.used++
	a.nodes = a.nodes[:len(a.nodes)+1]
	n := &a.nodes[len(a.nodes)-1]
	n.Number = a.count
	a.count++
	return n
}

// attributes keeps attributes but those that declare namespaces.
func (a *arena) attributes(list []xml.Attr) []attribute {
	if cap(a.attrs)-len(a.attrs) < len(list) {
		a.attrs = make([]attribute, 0, max(1024, len(list)))
	}
	from := len(a.attrs)
	for _, x := range list {
		if x.Name.Local != "xmlns" && x.Name.Space != "xmlns" {
			a.attrs = append(a.attrs, attribute{x.Name.Local, strings.TrimSpace(x.Value)})
		}
	}
	a.used += len(a.attrs) - from
	return a.attrs[from:len(a.attrs):len(a.attrs)]
}

// Parsed is a document's ClinicalDocument element, and what of its characters could not be read or was guessed.
type Parsed struct {
	Root *Node
	// Replaced counts the places that are no character in the document's encoding. Guessed counts the bytes that were
	// read as windows-1252, which the document does not declare.
	Replaced, Guessed int
}

// Parse reads a document. It skips document type declarations, so the entities that they declare are never expanded;
// entities of HTML are read.
func Parse(document []byte) (Parsed, error) {
	if len(document) > maxDocument {
		return Parsed{}, errSize
	}
	source, err := decode(document)
	if err != nil {
		return Parsed{}, err
	}
	root, err := parse(source.text)
	return Parsed{Root: root, Replaced: source.Replaced, Guessed: source.Guessed}, err
}

func parse(text []byte) (*Node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	decoder.Strict = false // unknown entities stay as they are written
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	b := builder{root: &Node{}}
	b.open = b.root
	for {
		token, err := decoder.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return b.document()
		case err != nil:
			return nil, errXML
		}
		if err := b.take(token); err != nil {
			return nil, err
		}
	}
}

// builder puts tokens together to a tree.
type builder struct {
	arena

	root, open *Node   // open is the element that is being read
	last       []*Node // the last child so far of each open element
	children   []int   // how many there are so far, as maxChildren counts
	narrative  int     // how many open elements are in a section's text
}

func (b *builder) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		n := b.node()
		n.Name, n.attrs = t.Name.Local, b.attributes(t.Attr)
		b.append(n)
		if b.isCrowded(n) {
			return errSize
		}
		if b.narrative > 0 || n.Name == "text" {
			b.narrative++
		}
		b.open = n
		b.last, b.children = append(b.last, nil), append(b.children, 0)
		if len(b.last) > maxDepth {
			return errDepth
		}
	case xml.EndElement:
		if b.open == b.root || b.open.Name != t.Name.Local {
			return errXML
		}
		b.narrative = max(0, b.narrative-1)
		b.open = b.open.Parent
		b.last, b.children = b.last[:len(b.last)-1], b.children[:len(b.children)-1]
	case xml.CharData:
		if b.open != b.root && (b.narrative > 0 || len(bytes.TrimSpace(t)) > 0) {
			n := b.node()
			n.Text = string(t)
			b.append(n)
		}
	}
	if b.used > maxNodes {
		return errSize
	}
	return nil
}

// isCrowded counts an element that begins, and reports whether what it is in has too many.
func (b *builder) isCrowded(n *Node) bool {
	depth := len(b.children) - 1
	if depth < 0 || b.narrative > 0 || n.Name == "entry" {
		return false
	}
	b.children[depth]++
	return b.children[depth] > maxChildren
}

func (b *builder) append(n *Node) {
	n.Parent = b.open
	depth := len(b.last) - 1
	switch {
	case depth < 0: // the top level, where a well-formed document has one element
		n.Next, b.root.First = b.root.First, n
	case b.last[depth] == nil:
		b.open.First = n
		b.last[depth] = n
	default:
		b.last[depth].Next = n
		b.last[depth] = n
	}
}

// document returns the ClinicalDocument, which may stand in an envelope.
func (b *builder) document() (*Node, error) {
	if b.open != b.root || b.root.First == nil {
		return nil, errXML
	}
	if b.root.First.Next != nil {
		return nil, errXML
	}
	for n := range b.root.Descendants() {
		if n.Name == "ClinicalDocument" {
			return n, nil
		}
	}
	return nil, errCDA
}

// Attr returns the value of an attribute without surrounding spaces; "" if there is none.
func (n *Node) Attr(name string) string {
	if n == nil {
		return ""
	}
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return n.attrs[i].value
		}
	}
	return ""
}

// At follows a path of element names, always to the first child of a name; it returns nil if there is none.
func (n *Node) At(names ...string) *Node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		child := n.First
		for child != nil && child.Name != name {
			child = child.Next
		}
		n = child
	}
	return n
}

// Each iterates over the child elements with one of some names in document order, or over all of them if no name is
// given.
func (n *Node) Each(names ...string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if n == nil {
			return
		}
		for child := n.First; child != nil; child = child.Next {
			if child.Name != "" && (len(names) == 0 || IsOneOf(child.Name, names...)) && !yield(child) {
				return
			}
		}
	}
}

// Descendants iterates over the element and all elements in it in document order.
func (n *Node) Descendants() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { walk(n, yield) }
}

// Words returns the text of an element and its content with single spaces.
func (n *Node) Words() string {
	if n == nil {
		return ""
	}
	if n.First != nil && n.First.Next == nil && n.First.Name == "" {
		return strings.Join(strings.Fields(n.First.Text), " ")
	}
	var text strings.Builder
	n.Write(&text)
	return strings.Join(strings.Fields(text.String()), " ")
}

// Write appends the text of an element and its content as it is.
func (n *Node) Write(text *strings.Builder) {
	text.WriteString(n.Text)
	switch n.Name {
	case "br", "tr", "td", "th", "item", "paragraph", "caption", "content":
		text.WriteByte(' ') // words of two cells are two words
	}
	for child := n.First; child != nil; child = child.Next {
		child.Write(text)
	}
}

// IsOneOf reports whether a text is in a list.
func IsOneOf(text string, list ...string) bool { return slices.Contains(list, text) }

func walk(n *Node, yield func(*Node) bool) bool {
	if n == nil {
		return true
	}
	if n.Name != "" && !yield(n) {
		return false
	}
	for child := n.First; child != nil; child = child.Next {
		if !walk(child, yield) {
			return false
		}
	}
	return true
}
