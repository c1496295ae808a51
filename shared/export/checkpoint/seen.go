package checkpoint

// seen tells what an export has come across, so that nothing is written or read twice.
type seen struct {
	written marks // of what is in the segments, or was found and left out
	noted   marks // of what was found to refer to
	weight  int   // bytes of addresses that this run has begun with or noted
}

func (s *seen) note(name string, weight int) bool {
	s.weight += weight
	return s.noted.add(MarkOf(name))
}

// IsWritten reports whether what has the mark is in the segments, or was found and left out.
func (s *State) IsWritten(mark uint64) bool { return s.seen.written.has(mark) }

// SetWritten notes that what has the mark is in the segments, or left out.
func (s *State) SetWritten(mark uint64) { s.seen.written.add(mark) }

// IsNew notes something that the record refers to, whose address has weight bytes. It is false for what was noted or
// written before, and for what there is no room for, which is missing then.
func (s *State) IsNew(resourceType, name string, weight int) bool {
	mark := MarkOf(name)
	if s.seen.noted.has(mark) || s.seen.written.has(mark) {
		return false
	}
	if s.overfull() {
		s.Accounts.Limited(resourceType)
		return false
	}
	return s.seen.note(name, weight)
}

// AddReference keeps a reference to be read, unless it is known.
func (s *State) AddReference(r Reference) {
	if s.IsNew(r.Type, r.Name(), len(r.ID)) {
		s.Work.addReference(r.clone())
	}
}

// AddAttachment keeps an attachment to be read, unless it is known.
func (s *State) AddAttachment(a Attachment) {
	if s.IsNew("Binary", a.Name(), len(a.URL)+len(a.ContentType)) {
		s.Work.Attachments = append(s.Work.Attachments, a)
	}
}
