package cda

import "strings"

// tree holds a document's text and nodes.
type tree struct {
	text  string
	arena arena
	root  *Node // parent of the outermost element
	isCut bool  // whether some nodes are kept as text (see run)

	pieceNodes int // number of nodes in a piece; 0 if the entire document is in memory
	recent     recent
	// hide removes the parts that state no fact from an element that is parsed again; nil until the document is open
	hide func(n *Node)
}

func (t *tree) parse(pieceNodes int) (*Node, error) {
	t.pieceNodes = pieceNodes
	b := builder{arena: arena{blockSize: 512}, tree: t, root: &Node{}, pieceNodes: pieceNodes}
	b.inside = b.root
	s := scanner{text: t.text, to: &b}
	if err := s.scan(); err != nil {
		return nil, err
	}
	t.arena, t.root = b.arena, b.root
	return b.document()
}

// arena allocates nodes in blocks to save time and memory.
type arena struct {
	blocks    [][]Node
	blockSize int // nodes in one block
	size      int // total number of nodes in all blocks
	attrs     []attribute
	begun     int // index in attrs of the current element's first attribute
	slab      int // number of times attrs has been replaced
}

func (a *arena) node() *Node {
	at := a.size / a.blockSize
	if at == len(a.blocks) {
		a.blocks = append(a.blocks, make([]Node, a.blockSize))
	}
	a.size++
	return a.at(a.size - 1)
}

// at returns the node at a position in the arena.
func (a *arena) at(place int) *Node { return &a.blocks[place/a.blockSize][place%a.blockSize] }

func (a *arena) attribute(name, value string) {
	if len(a.attrs) == cap(a.attrs) {
		begun := a.attrs[a.begun:]
		a.attrs = append(make([]attribute, 0, max(1024, 2*len(begun))), begun...)
		a.begun = 0
		a.slab++
	}
	a.attrs = append(a.attrs, attribute{name, value})
}

func (a *arena) attributes() []attribute {
	list := a.attrs[a.begun:len(a.attrs):len(a.attrs)]
	a.begun = len(a.attrs)
	return list
}

// mark is a saved arena state.
type mark struct{ size, attrs, slab int }

func (a *arena) mark() mark { return mark{size: a.size, attrs: len(a.attrs), slab: a.slab} }

// release frees the nodes allocated since a mark. The caller must no longer use those nodes.
func (a *arena) release(to mark) {
	for ; a.size > to.size; a.size-- {
		*a.at(a.size - 1) = Node{}
	}
	if to.slab != a.slab {
		to.attrs = 0
	}
	clear(a.attrs[to.attrs:])
	a.attrs = a.attrs[:to.attrs]
	a.begun = to.attrs
}

// builder builds a tree of nodes from tokens.
type builder struct {
	arena

	tree         *tree
	root, inside *Node  // inside is the innermost open element
	open         []open // open elements, outermost first
	narrative    int    // number of open elements in a section's text
	entries      int    // number of open elements in an entry, including the entry
	used         int    // number of elements, text nodes and attributes so far
	attributes   int32  // number of attributes so far
	count        int32  // number of nodes so far, including those in pieces
	pieceNodes   int    // number of nodes in a piece; 0 to keep all nodes in memory
	isPiece      bool   // whether the text is a piece that is parsed again
	first        *Node  // first node of the piece
}

// open is an element whose end tag has not been read.
type open struct {
	last     *Node // most recent child
	children int   // number of children, excluding those that maxChildren does not count

	stretch stretch // most recent children, which a piece may replace
	isWhole bool    // whether all nodes in the element are in memory
}

// start adds an element to the tree. The caller must call set for each of the element's attributes.
func (b *builder) start(name string) error {
	n := b.node()
	n.Name = name
	b.append(n)
	if b.isCrowded(n) {
		return errSize
	}
	if b.narrative > 0 || name == "text" {
		b.narrative++
	}
	if b.entries > 0 || name == "entry" {
		b.entries++
	}
	b.inside = n
	b.open = append(b.open, open{isWhole: true})
	if len(b.open) > maxDepth {
		return errDepth
	}
	return nil
}

func (b *builder) node() *Node {
	n := b.arena.node()
	n.Number = b.count
	b.count++
	b.used++
	return n
}

// set adds an attribute to the started element, given the attribute's full name and its name without the prefix.
// Namespace declarations are ignored.
func (b *builder) set(full, local, value string) {
	if full == "xmlns" || strings.HasPrefix(full, "xmlns:") {
		return
	}
	b.attribute(local, strings.TrimSpace(unescaped(value)))
	b.used++
	b.attributes++
}

// started handles the end of an element's start tag. at is the tag's end offset in the text.
func (b *builder) started(at int) error {
	b.inside.attrs = b.arena.attributes()
	b.begin(at)
	return b.isTooLarge()
}

// end completes an element. from and to are the start and end offsets of its end tag.
func (b *builder) end(name string, from, to int) error {
	if b.inside == b.root || b.inside.Name != name || b.isPiece && len(b.open) == 1 {
		return errXML
	}
	b.finish(from)
	b.narrative, b.entries = max(0, b.narrative-1), max(0, b.entries-1)
	ended, isWhole := b.inside, b.open[len(b.open)-1].isWhole
	b.inside = b.inside.Parent
	b.open = b.open[:len(b.open)-1]
	b.ended(ended, isWhole, to)
	return nil
}

// add adds text to the open element. to is the text's end offset. Outside the narrative, text that consists only of
// white space is ignored.
func (b *builder) add(text string, isEscaped bool, to int) error {
	if isEscaped {
		text = unescaped(text)
	}
	if text == "" || b.inside == b.root || b.narrative == 0 && strings.TrimSpace(text) == "" {
		return nil
	}
	n := b.node()
	n.Text = text
	b.append(n)
	b.ended(n, true, to)
	return b.isTooLarge()
}

func (b *builder) isTooLarge() error {
	if b.used > maxNodes {
		return errSize
	}
	return nil
}

// isCrowded counts a new element and reports whether its parent now has too many children.
func (b *builder) isCrowded(n *Node) bool {
	depth := len(b.open) - 1
	if depth < 0 || b.narrative > 0 || n.Name == "entry" {
		return false
	}
	b.open[depth].children++
	return b.open[depth].children > maxChildren
}

func (b *builder) append(n *Node) {
	n.Parent = b.inside
	if len(b.open) == 0 { // A well-formed document has exactly one root element.
		n.next, b.root.first = b.root.first, n
		return
	}
	b.link(b.open[len(b.open)-1].last, n)
}

// link inserts a node after last, or as the first child if last is nil.
func (b *builder) link(last, n *Node) {
	top := &b.open[len(b.open)-1]
	switch {
	case last != nil:
		last.next = n
	case b.isPiece && len(b.open) == 1:
		b.first = n
	default:
		b.inside.first = n
	}
	top.last = n
}

// document returns the ClinicalDocument element, which may be nested in an envelope.
func (b *builder) document() (*Node, error) {
	if b.inside != b.root || b.root.first == nil {
		return nil, errXML
	}
	if b.root.first.next != nil {
		return nil, errXML
	}
	for n := range b.root.Descendants() {
		if n.Name == "ClinicalDocument" {
			return n, nil
		}
	}
	return nil, errCDA
}
