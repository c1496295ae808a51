package collect

import (
	"slices"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

const (
	// listSize is how many ids one search names at most, and listBytes how long they are together: servers refuse
	// addresses beyond 2,000 bytes.
	listSize  = 50
	listBytes = 1500
	// maxLists bounds the lists of which something is not written yet.
	maxLists = 8
)

// lists are searches for what the record refers to, by the ids of several resources of one type. What such a search
// finds counts as if it had been read, and nothing else of its answer does: what it leaves out is read by itself, and a
// server that answers with what was not asked for is not asked so again.
type lists struct {
	learned *checkpoint.Learned
	of      map[checkpoint.Reference]*list // by member
	open    int
	alone   map[checkpoint.Reference]bool // left out by a list that may have had room for them, or not
}

// list is one such search.
type list struct {
	refs  []checkpoint.Reference
	left  int                    // members that have not had their turn
	found map[string]fhir.Bundle // by id; nil while the answer has not come
}

func newLists(learned *checkpoint.Learned) lists {
	return lists{learned: learned, of: map[checkpoint.Reference]*list{}, alone: map[checkpoint.Reference]bool{}}
}

func idsOf(refs []checkpoint.Reference) []string {
	ids := make([]string, 0, len(refs))
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return ids
}

// begin opens a list for the first of the references that wait, and for others of its type that nothing is asked for
// yet. It returns nil where there is to be none.
func (l *lists) begin(waiting []checkpoint.Reference, isAsked func(checkpoint.Reference) bool) []checkpoint.Reference {
	first, learned := waiting[0], l.learned
	if l.open >= maxLists || l.isAlone(first) || !slices.Contains(learned.ByID, first.Type) {
		return nil
	}
	most, bytes := listSize, 0
	if learned.ListSize > 0 {
		most = min(most, learned.ListSize)
	}
	var refs []checkpoint.Reference
	for _, r := range waiting {
		if r.Type != first.Type || isAsked(r) || l.isAlone(r) {
			continue
		}
		if bytes += len(r.ID) + 1; bytes > listBytes || len(refs) == most {
			break
		}
		refs = append(refs, r)
	}
	if len(refs) < 2 {
		return nil
	}
	made := &list{refs: refs, left: len(refs)}
	for _, r := range refs {
		l.of[r] = made
	}
	l.open++
	return refs
}

func (l *lists) isAlone(r checkpoint.Reference) bool {
	_, known := l.alone[r]
	return known
}

// receive takes the answer. References that it does not bring are read alone.
func (l *lists) receive(list *list, answer source.Page) {
	resourceType, learned := list.refs[0].Type, l.learned
	list.found = map[string]fhir.Bundle{}
	switch {
	case answer.Failed != nil:
		if !isPassing(answer.Failed.Class) || answer.Failed.Class == fhir.ServerFault {
			learned.IgnoresIDs(resourceType)
		}
	case !list.fill(answer.Bundle):
		learned.IgnoresIDs("")
	case answer.NextLost && len(list.found) < 2:
		learned.IgnoresIDs(resourceType)
	case answer.NextLost:
		learned.ListSize = len(list.found)
	}
	for _, r := range list.refs {
		if _, isFound := list.found[r.ID]; !isFound && l.of[r] == list {
			l.remove(r)
			l.alone[r] = answer.Failed == nil && !answer.NextLost
		}
	}
}

// fill keeps what the answer brings; it is false, and nothing is kept, where there is something that was
// not asked for, or twice.
func (l *list) fill(answer fhir.Bundle) bool {
	for one := range answer.All() {
		_, isTwice := l.found[one.ID]
		isAsked := slices.ContainsFunc(l.refs, func(r checkpoint.Reference) bool {
			return r.Type == one.Type &&
				r.ID == one.ID
		})
		if isTwice || !isAsked {
			clear(l.found)
			return false
		}
		l.found[one.ID] = one.Alone()
	}
	return true
}

// take returns what a list has found of a reference; it is false where none has.
func (l *lists) take(r checkpoint.Reference) (source.Page, bool) {
	list := l.of[r]
	if list == nil || list.found == nil {
		return source.Page{}, false
	}
	found := list.found[r.ID]
	delete(list.found, r.ID)
	l.remove(r)
	return source.Page{Bundle: found}, true
}

// remove takes a member off its list. isOver tells that it was the last one.
func (l *lists) remove(r checkpoint.Reference) (isOver bool) {
	list := l.of[r]
	delete(l.of, r)
	if list.left--; list.left == 0 {
		l.open--
	}
	return list.left == 0
}

// readAlone learns from what was read of a reference by itself: a server that has it, and has left it out of a list
// with room for it, is not asked for lists of its type again.
func (l *lists) readAlone(r checkpoint.Reference, found source.Page) {
	if l.alone[r] && found.Failed == nil {
		l.learned.IgnoresIDs(r.Type)
	}
	delete(l.alone, r)
}
