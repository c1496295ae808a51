// Package cda reads a C-CDA document (HL7 CDA R2) from XML into a tree and finds its way around it: elements, codes,
// ids, times, templates and clinical statements. It knows nothing of FHIR.
package cda

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
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

// arena allocates nodes by the hundred, which takes less time and memory than one by one, and keeps one copy of each
// name and of short values, such as the codes and OIDs that a document repeats.
type arena struct {
	known map[string]string
	nodes []Node
	count int32 // of nodes
	attrs []attribute
	begun int // where the attributes of the element that begins are in attrs
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

// attribute adds an attribute to the element that begins.
func (a *arena) attribute(name, value string) {
	if len(a.attrs) == cap(a.attrs) {
		begun := a.attrs[a.begun:]
		a.attrs = append(make([]attribute, 0, max(1024, 2*len(begun))), begun...)
		a.begun = 0
	}
	a.attrs = append(a.attrs, attribute{name, value})
	a.used++
}

// attributes returns those of the element that has begun.
func (a *arena) attributes() []attribute {
	list := a.attrs[a.begun:len(a.attrs):len(a.attrs)]
	a.begun = len(a.attrs)
	return list
}

// What is kept of texts that stand more than once.
const (
	maxKnown      = 20_000 // texts
	maxKnownBytes = 64     // of one
)

// same returns a text as a string, which is the copy that is already kept if there is one.
func (a *arena) same(text []byte) string {
	if len(text) > maxKnownBytes {
		return string(text)
	}
	if known, ok := a.known[string(text)]; ok {
		return known
	}
	if a.known == nil {
		a.known = map[string]string{}
	}
	own := string(text)
	if len(a.known) < maxKnown {
		a.known[own] = own
	}
	return own
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
	b := builder{root: &Node{}}
	b.inside = b.root
	s := scanner{text: text, to: &b}
	if err := s.scan(); err != nil {
		return nil, err
	}
	return b.document()
}

// builder puts tokens together to a tree.
type builder struct {
	arena

	root, inside *Node   // inside is the element that is being read
	last         []*Node // the last child so far of each open element
	children     []int   // how many there are so far, as maxChildren counts
	narrative    int     // how many open elements are in a section's text
}

// start begins an element, whose attributes follow.
func (b *builder) start(name []byte) error {
	n := b.node()
	n.Name = b.same(name)
	b.append(n)
	if b.isCrowded(n) {
		return errSize
	}
	if b.narrative > 0 || n.Name == "text" {
		b.narrative++
	}
	b.inside = n
	b.last, b.children = append(b.last, nil), append(b.children, 0)
	if len(b.last) > maxDepth {
		return errDepth
	}
	return nil
}

// set adds an attribute to the element that has been started, by its full name and the one without prefix. Declarations
// of namespaces are none.
func (b *builder) set(full, local, value []byte) {
	if string(full) == "xmlns" || bytes.HasPrefix(full, []byte("xmlns:")) {
		return
	}
	b.attribute(b.same(local), b.same(bytes.TrimSpace(unescaped(value))))
}

// started ends the tag that began an element.
func (b *builder) started() error {
	b.inside.attrs = b.attributes()
	return b.isTooLarge()
}

func (b *builder) end(name []byte) error {
	if b.inside == b.root || b.inside.Name != string(name) {
		return errXML
	}
	b.narrative = max(0, b.narrative-1)
	b.inside = b.inside.Parent
	b.last, b.children = b.last[:len(b.last)-1], b.children[:len(b.children)-1]
	return nil
}

// add adds a text to the open element. Outside the narrative white space alone is none.
func (b *builder) add(text []byte, isEscaped bool) error {
	if isEscaped {
		text = unescaped(text)
	}
	if len(text) == 0 || b.inside == b.root || b.narrative == 0 && len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	n := b.node()
	n.Text = b.same(text)
	b.append(n)
	return b.isTooLarge()
}

func (b *builder) isTooLarge() error {
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
	n.Parent = b.inside
	depth := len(b.last) - 1
	switch {
	case depth < 0: // the top level, where a well-formed document has one element
		n.Next, b.root.First = b.root.First, n
	case b.last[depth] == nil:
		b.inside.First = n
		b.last[depth] = n
	default:
		b.last[depth].Next = n
		b.last[depth] = n
	}
}

// document returns the ClinicalDocument, which may stand in an envelope.
func (b *builder) document() (*Node, error) {
	if b.inside != b.root || b.root.First == nil {
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
