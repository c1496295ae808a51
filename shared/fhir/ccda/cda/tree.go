// Package cda parses a C-CDA document (HL7 CDA R2) from XML into a tree, and provides access to elements, codes, ids,
// times, templates and clinical statements.
package cda

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// ErrInvalid means that a document can't be converted: it is not well-formed XML, contains no ClinicalDocument, is too
// large, or is nested too deeply. The error's text contains no part of the document.
var ErrInvalid = errors.New("ccda: invalid document")

// Limits on documents, which come from untrusted sources.
const (
	maxDocument = 64 << 20 // maximum size of a document, in bytes
	maxDepth    = 256      // maximum nesting depth of elements; the deepest real documents have about 40 levels
	maxNodes    = 4 << 20  // maximum number of elements, text nodes and attributes
	// maximum number of an element's children outside the narrative, excluding entries; limited because parts of a fact
	// are compared pairwise
	maxChildren = 2000
)

var (
	errSize  = fmt.Errorf("%w: too large", ErrInvalid)
	errDepth = fmt.Errorf("%w: nested too deeply", ErrInvalid)
	errXML   = fmt.Errorf("%w: no well-formed XML", ErrInvalid)
	errCDA   = fmt.Errorf("%w: no ClinicalDocument", ErrInvalid)
)

// Node is an element or a text node. Element names have no prefix, because documents use different prefixes. Names from
// C-CDA's extension namespace (sdtc) don't collide with CDA's names, except for those that extend a list (raceCode).
// All methods accept a nil Node, which represents a missing element.
type Node struct {
	Name   string // empty for a text node
	Text   string // set for a text node
	attrs  []attribute
	Parent *Node
	first  *Node // first child, which may represent a run of siblings
	next   *Node // next sibling, which may represent a run of siblings
	Number int32 // position in the document, starting at 0
	more   *more // nil for most nodes
}

type attribute struct{ name, value string }

// more holds fields that most nodes don't need.
type more struct {
	run    *run    // run of siblings represented by the node
	piece  int     // index of the first piece that the node represents
	hidden []*Node // children that were removed because they state no fact
}

// FirstChild returns an element's first child, which may be a text node, or nil.
func (n *Node) FirstChild() *Node {
	if n == nil {
		return nil
	}
	return shown(n.first)
}

// NextSibling returns the next element or text node with the same parent, or nil after the last sibling.
func (n *Node) NextSibling() *Node { return shown(n.next) }

// shown returns n or, if n represents a run of siblings, the first of them.
func shown(n *Node) *Node {
	if n == nil || n.more == nil || n.more.run == nil {
		return n
	}
	return n.more.run.read(n.more.piece)
}

// Hidden returns the children of a statement that were removed from the tree because they state no fact.
func (n *Node) Hidden() []*Node {
	if n.more == nil {
		return nil
	}
	return n.more.hidden
}

// Parsed holds a document's ClinicalDocument element and the numbers of invalid byte sequences and guessed bytes.
type Parsed struct {
	Root *Node
	// Replaced counts the byte sequences that are invalid in the document's encoding. Guessed counts the bytes that
	// were decoded as windows-1252 although the document does not declare that encoding.
	Replaced, Guessed int

	tree *tree
}

// Parse parses a document. HTML entities are decoded, but document type declarations are skipped and their entities
// never expanded. If pieceNodes is positive, groups of that many entries, sections and narrative parts are kept as text
// and parsed again on each visit (ADR 49, "Memory").
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

// Attr returns an attribute's value without surrounding spaces, or "" if the attribute is missing.
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

// At follows a path of element names from n. Each step of the path selects the first child with the next name. At
// returns nil if the path matches nothing.
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

// Each iterates over the child elements with one of the names, in document order. Without names, it iterates over all
// child elements.
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

// Descendants iterates over the element and all elements inside it, in document order.
func (n *Node) Descendants() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { walk(n, yield) }
}

// IsOneOf reports whether text is in list.
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
