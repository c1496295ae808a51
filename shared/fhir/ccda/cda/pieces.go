package cda

import (
	"slices"
	"sort"
)

// stretch describes the latest children of an open element, which have not yet been folded into a piece.
type stretch struct {
	mark

	before     *Node // the preceding child, or nil
	number     int32 // number of the stretch's first child
	attributes int32 // number of attributes in the document before the stretch
	from       int   // start offset
	names      []string
}

// minRest is the minimum size, in nodes, of the final piece of an element that is split into pieces.
const minRest = 16

// begin starts a new stretch at the text offset at.
func (b *builder) begin(at int) {
	if b.pieceNodes == 0 || len(b.open) == 0 {
		return
	}
	top := &b.open[len(b.open)-1]
	top.stretch = stretch{
		mark: b.mark(), before: top.last, number: b.count, attributes: b.attributes, from: at, names: top.stretch.names[:0],
	}
}

// ended adds a child to the open element's stretch if the child may be folded into a piece. to is the child's end
// offset. A child that contains a run may not be folded, because each visit to one of its pieces would parse the entire
// child again.
func (b *builder) ended(n *Node, isWhole bool, to int) {
	if b.pieceNodes == 0 || len(b.open) == 0 {
		return
	}
	top := &b.open[len(b.open)-1]
	top.isWhole = top.isWhole && isWhole
	if !isWhole || !b.mayBeRead(n) {
		b.begin(to)
		return
	}
	if !slices.Contains(top.stretch.names, n.Name) {
		top.stretch.names = append(top.stretch.names, n.Name)
	}
	if int(b.count-top.stretch.number) >= b.pieceNodes {
		b.fold(to)
	}
}

// mayBeRead reports whether a child of the open element can be parsed again later. Entries, sections and parts of the
// narrative can. Other children must stay in memory, because Document.hide modifies them when the document is opened.
func (b *builder) mayBeRead(n *Node) bool {
	switch {
	case b.narrative > 0:
		return true
	case b.entries > 0:
		return false
	case n.Name == "entry":
		return b.inside.Name == "section"
	}
	return n.Name == "component" && b.inside.Name == "structuredBody"
}

// finish folds the last children of an element that is split into pieces, which creates the element's final piece. at
// is the element's end offset.
func (b *builder) finish(at int) {
	top := &b.open[len(b.open)-1]
	if b.pieceNodes > 0 && !top.isWhole && b.count-top.stretch.number >= minRest {
		b.fold(at)
	}
}

// fold replaces the open element's stretch with a piece whose text ends at offset to, and releases the stretch's nodes.
func (b *builder) fold(to int) {
	top := &b.open[len(b.open)-1]
	s := top.stretch
	b.release(s.mark)
	if s.before == nil || s.before.more == nil || s.before.more.run == nil {
		n := b.arena.node()
		n.Number, n.Parent = s.number, b.inside
		n.more = &more{run: &run{tree: b.tree, node: n, narrative: b.narrative}}
		b.link(s.before, n)
	} else {
		s.before.next = nil
		top.last = s.before
	}
	r := top.last.more.run
	r.pieces = append(r.pieces, piece{int32(s.from), s.number, s.attributes}) //nolint:gosec // below maxDocument
	r.end = piece{int32(to), b.count, b.attributes}                           //nolint:gosec // as above
	for _, name := range s.names {
		if !slices.Contains(r.names, name) {
			r.names = append(r.names, name)
		}
	}
	top.isWhole, b.tree.isCut = false, true
	b.begin(to)
}

// run is a sequence of siblings that is parsed again on each visit.
type run struct {
	tree      *tree
	node      *Node    // node that represents the siblings in the tree
	names     []string // names of the siblings
	narrative int      // as in builder
	pieces    []piece
	end       piece
}

// piece records where a group of siblings begins: its text offset and the number of nodes and attributes before it.
type piece struct{ from, number, attributes int32 }

// has reports whether the run contains a sibling with one of the given names. Without names, has returns true.
func (r *run) has(names ...string) bool {
	if len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.names, name) })
}

// read returns the first node of the piece with index at, parsing the piece if necessary. The piece's last sibling
// links to the rest of the run.
func (r *run) read(at int) *Node {
	if first := r.tree.recent.get(r, at); first != nil {
		return first
	}
	begin, end := r.pieces[at], r.end
	if at+1 < len(r.pieces) {
		end = r.pieces[at+1]
	}
	b := builder{
		arena: arena{
			blockSize: int(end.number - begin.number),
			attrs:     make([]attribute, 0, int(end.attributes-begin.attributes)),
		},
		inside: r.node.Parent, isPiece: true, open: []open{{}}, narrative: r.narrative, count: begin.number,
	}
	s := scanner{text: r.tree.text[begin.from:end.from], to: &b}
	_ = s.scan() // The text has already been parsed without errors.
	if r.narrative == 0 && r.tree.hide != nil {
		for child := b.first; child != nil; child = child.next {
			r.tree.hide(child)
		}
	}
	b.open[0].last.next = r.after(at + 1)
	r.tree.recent.put(r, at, b.first)
	return b.first
}

// after returns a node that represents the pieces from at onwards, or the run's next sibling if there are none.
func (r *run) after(at int) *Node {
	if at == len(r.pieces) {
		return r.node.next
	}
	return &Node{
		Parent: r.node.Parent, next: r.node.next, Number: r.pieces[at].number, more: &more{run: r, piece: at},
	}
}

// find returns the node with the given number in the run.
func (r *run) find(number int32) *Node {
	at := sort.Search(len(r.pieces), func(i int) bool { return r.pieces[i].number > number })
	return descend(r.read(max(0, at-1)), number)
}

// node returns the node with the given number.
func (t *tree) node(number int32) *Node {
	if !t.isCut {
		return t.arena.at(int(number))
	}
	return descend(t.root.first, number)
}

// descend searches siblings and their descendants for the node with the given number.
func descend(n *Node, number int32) *Node {
	for n != nil {
		for n.next != nil && n.next.Number <= number {
			n = n.next
		}
		switch {
		case n.more != nil && n.more.run != nil:
			return n.more.run.find(number)
		case n.Number == number:
			return n
		}
		n = n.first
	}
	return nil
}

// recent caches the most recently parsed pieces.
type recent struct {
	list [16]struct {
		run   *run
		piece int
		first *Node
	}
	at int
}

func (r *recent) get(of *run, piece int) *Node {
	for i := range r.list {
		if r.list[i].run == of && r.list[i].piece == piece {
			return r.list[i].first
		}
	}
	return nil
}

func (r *recent) put(of *run, piece int, first *Node) {
	r.at = (r.at + 1) % len(r.list)
	r.list[r.at].run, r.list[r.at].piece, r.list[r.at].first = of, piece, first
}

// largeFactor times the number of nodes in a piece is the threshold for large text, in bytes. In large documents, the
// threshold is 64 KB.
const largeFactor = 512

// IsLarge reports whether an element's content is too large to be held in memory twice. It returns false unless the
// document is read in pieces.
func (d *Document) IsLarge(n *Node) bool {
	most := largeFactor * d.tree.pieceNodes
	return n != nil && most > 0 && n.size(most) > most
}

// size returns the approximate length of an element's text. It stops counting once the length exceeds most.
func (n *Node) size(most int) int {
	sum := len(n.Text)
	if n.more != nil && n.more.run != nil {
		sum = int(n.more.run.end.from - n.more.run.pieces[n.more.piece].from)
	}
	for child := n.first; child != nil && sum <= most; child = child.next {
		sum += child.size(most - sum)
	}
	return sum
}
