package cda

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // finds statements by their id; nothing is kept secret by it
	"encoding/binary"
	"iter"
)

// Document is a parsed document with its indexes, immutable once opened.
type Document struct {
	Root       *Node           // the ClinicalDocument element
	PatientIDs map[string]bool // the patient's ids in the form returned by IDKey
	Zone       string          // time zone of effectiveTime; empty if unknown
	Elements   int             // exceeds every element's number
	Written    string          // digits of effectiveTime; empty if unknown
	Unstated   []Unstated      // removed parts, which state no fact

	tree      *tree
	asks      func(*Node) bool
	narrative map[string]int32 // element node numbers by ID attribute
	acts      acts
}

// Open indexes a document and removes the parts that state no fact. asks reports whether an observation with a
// nullFlavor is an unanswered question.
func Open(p Parsed, asks func(*Node) bool) *Document {
	root := p.Root
	d := &Document{
		Root: root, PatientIDs: map[string]bool{}, tree: p.tree, asks: asks, narrative: map[string]int32{},
		acts: acts{chains: map[uint64]struct{ first, last int32 }{}},
	}
	if s, ok := ReadStamp(root.At("effectiveTime").Attr("value")); ok {
		d.Zone, d.Written = s.Zone, s.Digits
	}
	for _, key := range PatientKeys(root) {
		d.PatientIDs[key] = true
	}
	p.tree.recent = recent{} // Cached pieces were parsed before hide was set.
	body := root.At("component")
	d.index(root)
	for child := root.FirstChild(); child != nil; child = child.NextSibling() {
		if child == body {
			d.index(child)
			d.hide(child)
		} else {
			d.indexAll(child)
		}
	}
	p.tree.recent = recent{}
	p.tree.hide = func(n *Node) { (&Document{asks: asks}).hide(n) }
	return d
}

// Node returns the element with the given number.
func (d *Document) Node(number int32) *Node { return d.tree.node(number) }

// Named returns the element with the given ID attribute, or nil.
func (d *Document) Named(id string) *Node {
	number, known := d.narrative[id]
	if !known {
		return nil
	}
	return d.Node(number)
}

// Acts iterates over the clinical statements with the given RealID in document order. Statements for which isWanted
// returns false are skipped without being parsed. If isWanted is nil, no statement is skipped.
func (d *Document) Acts(id string, isWanted func(number int32) bool) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if id == "" {
			return
		}
		for at := d.acts.chains[hashOf(id)].first; at > 0; {
			act := d.acts.list[at-1]
			at = act.next
			if isWanted != nil && !isWanted(act.number) {
				continue
			}
			if n := d.Node(act.number); RealID(n) == id && !yield(n) {
				return
			}
		}
	}
}

// acts indexes statement numbers by a hash of the statement's RealID. Documents can have many statements, so the index
// is compact.
type acts struct {
	chains map[uint64]struct{ first, last int32 } // indexes into list, starting at 1
	list   []struct{ number, next int32 }
}

func (a *acts) add(key string, number int32) {
	a.list = append(a.list, struct{ number, next int32 }{number: number})
	hash, at := hashOf(key), int32(len(a.list)) //nolint:gosec // maxNodes bounds the list
	chain := a.chains[hash]
	if chain.first == 0 {
		chain.first = at
	} else {
		a.list[chain.last-1].next = at
	}
	chain.last = at
	a.chains[hash] = chain
}

// hashOf returns a hash of text. Collisions are hard to construct, but callers must also compare the text.
func hashOf(text string) uint64 {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // nothing is kept secret by it
	return binary.LittleEndian.Uint64(sum[:])
}

// IsPast reports whether a time is before the document's time, which is the time to which statuses refer. A time
// without a day is compared at its own precision.
func (d *Document) IsPast(at *Node) bool { return d.compare(at) < 0 }

// IsLater reports whether a time is after the document's time.
func (d *Document) IsLater(at *Node) bool { return d.compare(at) > 0 }

func (d *Document) index(n *Node) {
	if d.tree == nil || n.Name == "" {
		return
	}
	d.Elements = max(d.Elements, int(n.Number)+1)
	if id := n.Attr("ID"); id != "" {
		if _, known := d.narrative[id]; !known {
			d.narrative[id] = n.Number
		}
	}
	if IsStatement(n) {
		if key := RealID(n); key != "" {
			d.acts.add(key, n.Number)
		}
	}
}

func (d *Document) indexAll(n *Node) {
	if d.tree == nil {
		return
	}
	for n := range n.Descendants() {
		d.index(n)
	}
}

// compare returns -1 for a time before the document's time, 1 for a later time, and 0 if the order is unknown.
func (d *Document) compare(at *Node) int {
	s, ok := ReadStamp(at.Attr("value"))
	if !ok || d.Written == "" {
		return 0
	}
	known := min(len(s.Digits), len(d.Written))
	return cmp.Compare(s.Digits[:known], d.Written[:known])
}
