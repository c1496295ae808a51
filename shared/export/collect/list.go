package collect

import (
	"slices"

	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
)

const (
	// listSize limits the number of ids in a search. listBytes limits the total length of the ids, because servers
	// reject URLs longer than 2,000 bytes.
	listSize  = 50
	listBytes = 1500
	// maxLists limits the number of list searches with members still to be written.
	maxLists = 8
)

// lists holds the ongoing searches by ids, each of which reads several referenced resources of one type. A resource
// found in the response counts as if it had been read individually. A resource missing from the response is read
// individually. Once a server has returned resources that were not requested, the export sends it no further searches
// by ids.
type lists struct {
	learned *checkpoint.Learned
	of      map[checkpoint.Reference]*list // each reference's search by ids
	open    int
	alone   map[checkpoint.Reference]bool // references to read individually; true if their search by ids was complete
}

// list is a search that reads several resources of the same type by id.
type list struct {
	refs  []checkpoint.Reference
	left  int                    // number of members not yet processed
	found map[string]fhir.Bundle // pages by id; nil until the response arrives
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

// begin creates a search by ids from the first waiting reference and other references of the same type that have not
// been requested. It returns nil if no such search should be sent.
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

// receive processes the response to a search by ids. References missing from the response are read individually.
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

// fill stores the resources from a response. If the response contains a resource that is a duplicate or was not
// requested, fill stores nothing and returns false.
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

// take returns the result of a search by ids for a single reference. It returns false if there is no result.
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

// remove removes a member from its list and reports whether it was the last one.
func (l *lists) remove(r checkpoint.Reference) (isOver bool) {
	list := l.of[r]
	delete(l.of, r)
	if list.left--; list.left == 0 {
		l.open--
	}
	return list.left == 0
}

// readAlone processes the result of reading a reference individually. If the response to a search by ids omitted a
// resource that the server has, although the page had room for it, the export sends no further such searches for that
// type.
func (l *lists) readAlone(r checkpoint.Reference, found source.Page) {
	if l.alone[r] && found.Failed == nil {
		l.learned.IgnoresIDs(r.Type)
	}
	delete(l.alone, r)
}
