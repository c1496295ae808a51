// Package cda reads a C-CDA document (HL7 CDA R2) from XML into a tree and provides access to its parts: elements,
// codes, ids, times, templates and clinical statements. It does not depend on FHIR.
package cda

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// ErrInvalid is returned for a document that cannot be converted at all: it is not well-formed XML, has no
// ClinicalDocument, is too large or nested too deeply. Its text contains no part of the document.
var ErrInvalid = errors.New("ccda: invalid document")

// Limits of a document, since it comes from outside.
const (
	maxDocument = 64 << 20 // bytes
	maxDepth    = 256      // nesting depth of elements; the deepest real documents have about 40
	maxNodes    = 4 << 20  // elements, texts and attributes
	// children of an element other than narrative, not counting entries; parts of one fact are compared with each other
	maxChildren = 2000
)

var (
	errSize  = fmt.Errorf("%w: too large", ErrInvalid)
	errDepth = fmt.Errorf("%w: nested too deeply", ErrInvalid)
	errXML   = fmt.Errorf("%w: no well-formed XML", ErrInvalid)
	errCDA   = fmt.Errorf("%w: no ClinicalDocument", ErrInvalid)
)

// Node is an element, or a text inside one. Names have no prefix: documents differ in prefixes, and the elements of
// C-CDA's extension (sdtc) either have names of their own or add to a list of the same name (raceCode). All methods
// accept nil, which stands for a missing element.
type Node struct {
	Name   string // empty for a text
	Text   string // set for a text
	attrs  []attribute
	Parent *Node
	first  *Node // first child, which may stand for a run of them
	next   *Node // next sibling, which may stand for a run of them
	Number int32 // position in the document, from 0
	more   *more // nil for most nodes
}

type attribute struct{ name, value string }

// more holds fields that few nodes need.
type more struct {
	run    *run    // run of siblings that the node stands for
	piece  int     // first piece of the run
	hidden []*Node // children that state no fact (Document)
}

// FirstChild returns the first child of an element, which may be a text; nil if it has none.
func (n *Node) FirstChild() *Node {
	if n == nil {
		return nil
	}
	return shown(n.first)
}

// NextSibling returns the next element or text in the same parent; nil after the last one.
func (n *Node) NextSibling() *Node { return shown(n.next) }

// shown returns a node, or the first node of the run that it stands for.
func shown(n *Node) *Node {
	if n == nil || n.more == nil || n.more.run == nil {
		return n
	}
	return n.more.run.read(n.more.piece)
}

// Hidden returns the children of a statement that state no fact and were removed from the tree.
func (n *Node) Hidden() []*Node {
	if n.more == nil {
		return nil
	}
	return n.more.hidden
}

// Parsed holds a document's ClinicalDocument element and the number of unreadable or guessed characters.
type Parsed struct {
	Root *Node
	// Replaced counts the invalid sequences in the document's encoding. Guessed counts the bytes that were read as
	// windows-1252, which the document does not declare.
	Replaced, Guessed int

	tree *tree
}

// Parse reads a document. It skips document type declarations, so their entities are never expanded; HTML entities are
// read. If pieceNodes is positive, stretches of that many entries, sections and parts of narrative stay text, and are
// read again whenever they are visited (ADR 49, "Memory").
func Parse(document []byte, pieceNodes int) (Parsed, error) {
	if len(document) > maxDocument {
		return Parsed{}, errSize
	}
	source, err := decode(document)
	if err != nil {
		return Parsed{}, err
	}
	tree := &tree{text: string(source.text)}
	root, err := tree.parse(pieceNodes)
	return Parsed{Root: root, Replaced: source.Replaced, Guessed: source.Guessed, tree: tree}, err
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

// At follows a path of element names, always to the first child with the name; it returns nil if there is none.
func (n *Node) At(names ...string) *Node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		child := n.first
		for child != nil && child.Name != name {
			if child.more != nil && child.more.run != nil && child.more.run.has(name) {
				child = shown(child)
			} else {
				child = child.next
			}
		}
		n = child
	}
	return n
}

// Each iterates over the child elements with one of the names in document order, or over all of them if no name is
// given.
func (n *Node) Each(names ...string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if n == nil {
			return
		}
		for child := n.first; child != nil; child = child.next {
			if child.more != nil && child.more.run != nil {
				if !child.more.run.has(names...) {
					continue
				}
				child = shown(child)
			}
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
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if !walk(child, yield) {
			return false
		}
	}
	return true
}
