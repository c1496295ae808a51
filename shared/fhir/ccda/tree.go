package ccda

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

// What is read of a document is bounded, since it comes from outside.
const (
	maxDocument = 64 << 20 // bytes
	maxDepth    = 256      // elements in each other; the deepest real documents have about 40
	maxNodes    = 4 << 20  // elements, texts and attributes
	maxChildren = 2000     // elements in one that is no narrative, but for entries; parts of one fact are compared with each other
)

var (
	errSize  = fmt.Errorf("%w: too large", ErrInvalid)
	errDepth = fmt.Errorf("%w: nested too deeply", ErrInvalid)
	errXML   = fmt.Errorf("%w: no well-formed XML", ErrInvalid)
	errCDA   = fmt.Errorf("%w: no ClinicalDocument", ErrInvalid)
)

// node is an element, or a text in one. Names are without their prefix: documents differ in prefixes, and the extensions of
// C-CDA (sdtc) have names of their own or add to a list of the same name (raceCode). All methods work on nil, which is an
// element that is not there.
type node struct {
	name   string // empty of a text
	text   string // of a text
	attrs  []attribute
	parent *node
	first  *node // child
	next   *node // sibling
	number int32 // in the document, from 0
}

type attribute struct{ name, value string }

// arena allocates nodes by the hundred, which takes less time and memory than one by one.
type arena struct {
	nodes []node
	count int32 // of nodes
	attrs []attribute
	used  int
}

func (a *arena) node() *node {
	if len(a.nodes) == cap(a.nodes) {
		a.nodes = make([]node, 0, 512)
	}
	a.used++
	a.nodes = a.nodes[:len(a.nodes)+1]
	n := &a.nodes[len(a.nodes)-1]
	n.number = a.count
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

// parse reads a document to its ClinicalDocument element. Document type declarations are passed over, so that entities
// that they declare are never expanded; entities of HTML are read.
func parse(document []byte) (*node, error) {
	if len(document) > maxDocument {
		return nil, errSize
	}
	decoder := xml.NewDecoder(bytes.NewReader(utf8Text(document)))
	decoder.Strict = false // unknown entities stay as they are written
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	b := builder{root: &node{}}
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

	root, open *node   // open is the element that is being read
	last       []*node // the last child so far of each open element
	children   []int   // how many there are so far, as maxChildren counts
	narrative  int     // how many open elements are in a section's text
}

func (b *builder) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		n := b.node()
		n.name, n.attrs = t.Name.Local, b.attributes(t.Attr)
		b.append(n)
		if b.isCrowded(n) {
			return errSize
		}
		if b.narrative > 0 || n.name == "text" {
			b.narrative++
		}
		b.open = n
		b.last, b.children = append(b.last, nil), append(b.children, 0)
		if len(b.last) > maxDepth {
			return errDepth
		}
	case xml.EndElement:
		if b.open == b.root || b.open.name != t.Name.Local {
			return errXML
		}
		b.narrative = max(0, b.narrative-1)
		b.open = b.open.parent
		b.last, b.children = b.last[:len(b.last)-1], b.children[:len(b.children)-1]
	case xml.CharData:
		if b.open != b.root && (b.narrative > 0 || len(bytes.TrimSpace(t)) > 0) {
			n := b.node()
			n.text = string(t)
			b.append(n)
		}
	}
	if b.used > maxNodes {
		return errSize
	}
	return nil
}

// isCrowded counts an element that begins, and reports whether what it is in has too many.
func (b *builder) isCrowded(n *node) bool {
	depth := len(b.children) - 1
	if depth < 0 || b.narrative > 0 || n.name == "entry" {
		return false
	}
	b.children[depth]++
	return b.children[depth] > maxChildren
}

func (b *builder) append(n *node) {
	n.parent = b.open
	depth := len(b.last) - 1
	switch {
	case depth < 0: // the top level, where a well-formed document has one element
		n.next, b.root.first = b.root.first, n
	case b.last[depth] == nil:
		b.open.first = n
		b.last[depth] = n
	default:
		b.last[depth].next = n
		b.last[depth] = n
	}
}

// document gives the ClinicalDocument, which may stand in an envelope.
func (b *builder) document() (*node, error) {
	if b.open != b.root || b.root.first == nil {
		return nil, errXML
	}
	if b.root.first.next != nil {
		return nil, errXML
	}
	for n := range b.root.descendants() {
		if n.name == "ClinicalDocument" {
			return n, nil
		}
	}
	return nil, errCDA
}

// attr gives an attribute's value without spaces around it, or "".
func (n *node) attr(name string) string {
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

// at follows a path of element names, always to the first child of a name; nil when there is none.
func (n *node) at(names ...string) *node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		child := n.first
		for child != nil && child.name != name {
			child = child.next
		}
		n = child
	}
	return n
}

// each gives the child elements of some names in their order, or all of them when there are no names.
func (n *node) each(names ...string) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if n == nil {
			return
		}
		for child := n.first; child != nil; child = child.next {
			if child.name != "" && (len(names) == 0 || isOneOf(child.name, names...)) && !yield(child) {
				return
			}
		}
	}
}

// descendants gives the element and all elements in it, in the order of the document.
func (n *node) descendants() iter.Seq[*node] {
	return func(yield func(*node) bool) { n.walk(yield) }
}

func (n *node) walk(yield func(*node) bool) bool {
	if n == nil {
		return true
	}
	if n.name != "" && !yield(n) {
		return false
	}
	for child := n.first; child != nil; child = child.next {
		if !child.walk(yield) {
			return false
		}
	}
	return true
}

// words gives the text of an element and all in it, with single spaces.
func (n *node) words() string {
	if n == nil {
		return ""
	}
	if n.first != nil && n.first.next == nil && n.first.name == "" {
		return strings.Join(strings.Fields(n.first.text), " ")
	}
	var text strings.Builder
	n.write(&text)
	return strings.Join(strings.Fields(text.String()), " ")
}

func (n *node) write(text *strings.Builder) {
	text.WriteString(n.text)
	switch n.name {
	case "br", "tr", "td", "th", "item", "paragraph", "caption", "content":
		text.WriteByte(' ') // words of two cells are two words
	}
	for child := n.first; child != nil; child = child.next {
		child.write(text)
	}
}

func isOneOf(text string, list ...string) bool { return slices.Contains(list, text) }
