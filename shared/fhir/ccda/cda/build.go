package cda

import "strings"

// tree is the text of a document, and the nodes that are made of it.
type tree struct {
	text  string
	arena arena
	root  *Node // around the outermost element
	isCut bool  // some nodes are in runs

	pieceNodes int // how many nodes make a piece; 0 if the document is read whole
	recent     recent
	// removes what states no fact from an element that is read again; nil until the document is open
	hide func(n *Node)
}

// parse reads the whole document.
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

// arena allocates nodes by the hundred, which takes less time and memory than one by one.
type arena struct {
	blocks    [][]Node
	blockSize int // nodes in a block
	size      int // nodes in all of them
	attrs     []attribute
	begun     int // where the attributes of the element that begins are in attrs
	slab      int // how many times attrs has been replaced
}

func (a *arena) node() *Node {
	at := a.size / a.blockSize
	if at == len(a.blocks) {
		a.blocks = append(a.blocks, make([]Node, a.blockSize))
	}
	a.size++
	return a.at(a.size - 1)
}

// at returns a node by its place in the arena.
func (a *arena) at(place int) *Node { return &a.blocks[place/a.blockSize][place%a.blockSize] }

// attribute adds an attribute to the element that begins.
func (a *arena) attribute(name, value string) {
	if len(a.attrs) == cap(a.attrs) {
		begun := a.attrs[a.begun:]
		a.attrs = append(make([]attribute, 0, max(1024, 2*len(begun))), begun...)
		a.begun = 0
		a.slab++
	}
	a.attrs = append(a.attrs, attribute{name, value})
}

// attributes returns those of the element that has begun.
func (a *arena) attributes() []attribute {
	list := a.attrs[a.begun:len(a.attrs):len(a.attrs)]
	a.begun = len(a.attrs)
	return list
}

// mark is a state of an arena.
type mark struct{ size, attrs, slab int }

func (a *arena) mark() mark { return mark{size: a.size, attrs: len(a.attrs), slab: a.slab} }

// release takes back the nodes since a mark, to which nothing refers any more.
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

// builder puts tokens together to nodes.
type builder struct {
	arena

	tree         *tree
	root, inside *Node  // inside is the element that is being read
	open         []open // elements that are being read, from the outermost
	narrative    int    // how many of them are in a section's text
	entries      int    // how many of them are in an entry, with it
	used         int    // elements, texts and attributes so far
	attributes   int32  // of all of them
	count        int32  // of nodes, those in pieces among them
	pieceNodes   int    // how many nodes make a piece; 0 to keep all of them
	isPiece      bool   // a piece is being read again, to which the outermost open element belongs
	first        *Node  // of the piece
}

// open is an element that is being read.
type open struct {
	last     *Node // child so far
	children int   // as maxChildren counts them

	stretch stretch // of the latest children that may become a piece
	isWhole bool    // no run is in it
}

// start begins an element, whose attributes follow.
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

// set adds an attribute to the element that has been started, by its full name and the one without prefix. Declarations
// of namespaces are none.
func (b *builder) set(full, local, value string) {
	if full == "xmlns" || strings.HasPrefix(full, "xmlns:") {
		return
	}
	b.attribute(local, strings.TrimSpace(unescaped(value)))
	b.used++
	b.attributes++
}

// started ends the tag that began an element, which ends at an offset of the text.
func (b *builder) started(at int) error {
	b.inside.attrs = b.arena.attributes()
	b.begin(at)
	return b.isTooLarge()
}

// end ends an element, whose end tag stands between two offsets.
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

// add adds a text to the open element, which ends at an offset. Outside the narrative white space alone is none.
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

// isCrowded counts an element that begins, and reports whether what it is in has too many.
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

// link makes a node the one after the last child, or the first child if last is nil.
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

// document returns the ClinicalDocument, which may stand in an envelope.
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
