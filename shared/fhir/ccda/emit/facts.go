package emit

import (
	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Store returns the store of all resources, in the order in which each resource was started.
func (e *Emitter) Store() *Store { return e.store }

// Pack stores a large document's resources in compact form until they are needed again. Rules must not retain pointers
// to resources or their headers from one entry to the next.
func (e *Emitter) Pack() { e.store.Pack() }

// Head returns the header of the resource that ref points to, or nil if it is unknown.
func (e *Emitter) Head(ref *r4.Reference) *r4.Header {
	at, known := e.store.Find(ref.Reference)
	if !known {
		return nil
	}
	return e.store.Get(at).Base()
}

// Sources returns functions that write content too large to hold in memory.
func (e *Emitter) Sources() r4.Sources { return e.sources }

// CountMerged counts a resource that was merged into an earlier one.
func (e *tally) CountMerged() { e.merged++ }

// CountTemplate counts an entry template that has a rule.
func (e *tally) CountTemplate(root string) { e.report.Templates[root]++ }

// CountUnknown counts an entry template without a rule.
func (e *tally) CountUnknown(root string) { e.report.Unknown[root]++ }

// CountSection adds a section's report, including the texts counted since the previous section.
func (e *tally) CountSection(s SectionReport) {
	s.Texts, s.TextsLost = e.texts, e.textsLost
	e.texts, e.textsLost = 0, 0
	e.report.Sections = append(e.report.Sections, s)
}

// CountText counts a human-readable text, such as a section's narrative or a note. isKept reports whether a resource
// contains the text.
func (e *tally) CountText(isKept bool) {
	if isKept {
		e.texts++
	} else {
		e.textsLost++
	}
}

// IsFull reports whether the statement budget is exhausted.
func (e *spending) IsFull() bool { return e.budget.isFull }

// Afterwards calls do with n after all statements have been converted to resources. In a large document, n is parsed
// again before the call.
func (e *schedule) Afterwards(n *cda.Node, do func(n *cda.Node)) {
	number := n.Number
	e.later = append(e.later, func() { do(e.document.Node(number)) })
}

// Reference returns a reference to the resource that represents a statement, or nil.
func (e *coverage) Reference(n *cda.Node) *r4.Reference {
	if n == nil {
		return nil
	}
	at, known := e.facts[n.Number]
	if !known {
		return nil
	}
	return &r4.Reference{Reference: e.store.Name(at)}
}

// Take marks a statement or code as represented by a resource.
func (e *coverage) Take(n *cda.Node) { e.taken[n.Number] = true }

// IsTaken reports whether a resource represents a statement or code.
func (e *coverage) IsTaken(n *cda.Node) bool { return e.taken[n.Number] }

// SetFact records the resource that represents a statement. Later calls for the same statement have no effect.
func (e *coverage) SetFact(n *cda.Node, head *r4.Header) {
	if e.HasFact(n.Number) {
		return
	}
	at := e.latest
	if name := head.ResourceType + "/" + head.ID; e.store.Len() == 0 || e.store.Name(at) != name {
		at, _ = e.store.Find(name)
	}
	e.facts[n.Number] = at
}

// Fact returns the header of the resource that represents a statement, or nil.
func (e *coverage) Fact(n *cda.Node) *r4.Header {
	if n == nil {
		return nil
	}
	at, known := e.facts[n.Number]
	if !known {
		return nil
	}
	return e.store.Get(at).Base()
}

// ReferenceTo returns a reference to a resource that has been added.
func (e *Emitter) ReferenceTo(head *r4.Header) *r4.Reference {
	ref := head.Reference()
	if at, known := e.store.Find(ref.Reference); known {
		ref.Reference = e.store.Name(at) // shares memory with the stored string
	}
	return ref
}

// HasFact reports whether a resource represents the statement with the given node number.
func (e *coverage) HasFact(number int32) bool {
	_, known := e.facts[number]
	return known
}

// Drop counts a part of the document that states a fact but is omitted from the output.
func (e *tally) Drop(what, reason string) { e.drop(Dropped{What: what, Reason: reason, Count: 1}) }

// DropUnstated counts a part of the document that was omitted from the output because it states no fact.
func (e *tally) DropUnstated(what, reason string) {
	e.drop(Dropped{What: what, Reason: reason, Count: 1, Unstated: true})
}

func (e *tally) drop(part Dropped) {
	for i := range e.report.Dropped {
		if d := &e.report.Dropped[i]; d.What == part.What && d.Reason == part.Reason {
			d.Count += part.Count
			return
		}
	}
	e.report.Dropped = append(e.report.Dropped, part)
}
