package cda

import "strings"

// tree holds the text of a document and its nodes.
type tree struct {
	text  string
	arena arena
	root  *Node // parent of the outermost element
	isCut bool  // some nodes are in runs

	pieceNodes int // number of nodes in a piece; 0 if the document is read completely
	recent     recent
	// removes the parts without facts from an element that is read again; nil until the document is open
	hide func(n *Node)
}

// parse reads the complete document.
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

// arena allocates nodes in blocks, which takes less time and memory than one by one.
type arena struct {
	blocks    [][]Node
	blockSize int // nodes per block
	size      int // nodes in all blocks
	attrs     []attribute
	begun     int // index in attrs of the current element's attributes
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

// at returns a node by its position in the arena.
func (a *arena) at(place int) *Node { return &a.blocks[place/a.blockSize][place%a.blockSize] }

// attribute adds an attribute to the current element.
func (a *arena) attribute(name, value string) {
	if len(a.attrs) == cap(a.attrs) {
		begun := a.attrs[a.begun:]
		a.attrs = append(make([]attribute, 0, max(1024, 2*len(begun))), begun...)
		a.begun = 0
		a.slab++
	}
	a.attrs = append(a.attrs, attribute{name, value})
}

// attributes returns the attributes of the current element.
func (a *arena) attributes() []attribute {
	list := a.attrs[a.begun:len(a.attrs):len(a.attrs)]
	a.begun = len(a.attrs)
	return list
}

// mark is a state of an arena.
type mark struct{ size, attrs, slab int }

func (a *arena) mark() mark { return mark{size: a.size, attrs: len(a.attrs), slab: a.slab} }

// release frees the nodes allocated since a mark. Nothing may refer to them any more.
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

// builder builds nodes from tokens.
type builder struct {
	arena

	tree         *tree
	root, inside *Node  // inside is the current element
	open         []open // open elements, from the outermost
	narrative    int    // number of them in a section's text
	entries      int    // number of them in an entry, including it
	used         int    // elements, texts and attributes so far
	attributes   int32  // number of all attributes
	count        int32  // number of nodes, including those in pieces
	pieceNodes   int    // number of nodes in a piece; 0 to keep all nodes
	isPiece      bool   // a piece is being read again; it belongs to the outermost open element
	first        *Node  // first node of the piece
}

// open is an element being read.
type open struct {
	last     *Node // last child so far
	children int   // as maxChildren counts them

	stretch stretch // latest children that may become a piece
	isWhole bool    // it contains no run
}

// start begins an element. Its attributes follow.
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

// set adds an attribute to the started element, by its full name and the name without prefix. Namespace declarations
// are ignored.
func (b *builder) set(full, local, value string) {
	if full == "xmlns" || strings.HasPrefix(full, "xmlns:") {
		return
	}
	b.attribute(local, strings.TrimSpace(unescaped(value)))
	b.used++
	b.attributes++
}

// started ends the start tag of an element. at is the tag's end offset in the text.
func (b *builder) started(at int) error {
	b.inside.attrs = b.arena.attributes()
	b.begin(at)
	return b.isTooLarge()
}

// end ends an element. from and to are the offsets of its end tag.
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

// add adds a text to the open element. to is the text's end offset. Outside the narrative, white space alone is
// ignored.
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

// isCrowded counts a new element, and reports whether its parent has too many children.
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
	if len(b.open) == 0 { // the top level, where a well-formed document has one element
		n.next, b.root.first = b.root.first, n
		return
	}
	b.link(b.open[len(b.open)-1].last, n)
}

// link inserts a node after the last child, or as the first child if last is nil.
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

// document returns the ClinicalDocument, which may be in an envelope.
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
