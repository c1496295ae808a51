package cda

import "cmp"

// Document is a parsed document with its indexes. It is not changed after it has been opened.
type Document struct {
	Root       *Node              // the ClinicalDocument element
	Narrative  map[string]*Node   // elements by their ID attribute
	Acts       map[string][]*Node // clinical statements by RealID
	PatientIDs map[string]bool    // the patient's ids, as IDKey spells them
	Zone       string             // the time zone of effectiveTime; empty if it has none
	Elements   int                // above the number of every element
	Written    string             // the digits of effectiveTime; empty if it has none
	Unstated   []Unstated         // parts that state no fact, which are no longer in the tree
	Hidden     map[*Node][]*Node  // those parts that stood in a statement that stays, by it
}

// Open indexes a document, and takes out of it what states no fact. asks reports whether a null observation is
// a question that has no answer.
func Open(root *Node, asks func(*Node) bool) *Document {
	d := &Document{Root: root, Narrative: map[string]*Node{}, Acts: map[string][]*Node{}, PatientIDs: map[string]bool{}}
	if s, ok := ReadStamp(root.At("effectiveTime").Attr("value")); ok {
		d.Zone, d.Written = s.Zone, s.Digits
	}
	if body := root.At("component"); body != nil {
		d.hide(body, asks)
	}
	for _, key := range PatientKeys(root) {
		d.PatientIDs[key] = true
	}
	for n := range root.Descendants() {
		d.Elements = int(n.Number) + 1
		if id := n.Attr("ID"); id != "" && d.Narrative[id] == nil {
			d.Narrative[id] = n
		}
		if IsStatement(n) {
			if key := RealID(n); key != "" {
				d.Acts[key] = append(d.Acts[key], n)
			}
		}
	}
	return d
}

// IsPast reports whether a time is before that of the document, at which its statuses are judged. A time whose day is
// not known is compared as far as it is known.
func (d *Document) IsPast(at *Node) bool { return d.compare(at) < 0 }

// IsLater reports whether a time is after that of the document.
func (d *Document) IsLater(at *Node) bool { return d.compare(at) > 0 }

// compare returns -1 for a time before that of the document, 1 for one after it, and 0 if that is not known.
func (d *Document) compare(at *Node) int {
	s, ok := ReadStamp(at.Attr("value"))
	if !ok || d.Written == "" {
		return 0
	}
	known := min(len(s.Digits), len(d.Written))
	return cmp.Compare(s.Digits[:known], d.Written[:known])
}
