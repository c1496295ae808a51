package checkpoint

// seen tracks an export's resources and references, so that each resource is written once and each reference is read
// once.
type seen struct {
	written marks // resources written to the segments, or found and excluded
	noted   marks // references found so far
	weight  int   // total length, in bytes, of the URLs that this run loaded or added
}

func (s *seen) note(name string, weight int) bool {
	s.weight += weight
	return s.noted.add(MarkOf(name))
}

// IsWritten reports whether the resource with the given mark (MarkOf) is already in the segments or was found and
// excluded.
func (s *State) IsWritten(mark uint64) bool { return s.seen.written.has(mark) }

// SetWritten records that the resource identified by the given mark (MarkOf) is in the segments or was excluded.
func (s *State) SetWritten(mark uint64) { s.seen.written.add(mark) }

// IsNew records a reference with a URL of weight bytes and reports whether it should be read. It returns false if the
// reference is already noted or written, or if a limit is reached. A reference beyond a limit is counted as missing.
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

// AddReference queues a reference to be read, unless it is already known.
func (s *State) AddReference(r Reference) {
	if s.IsNew(r.Type, r.Name(), len(r.ID)) {
		s.Work.addReference(r.clone())
	}
}

// AddAttachment queues an attachment to be read, unless it is already known.
func (s *State) AddAttachment(a Attachment) {
	if s.IsNew("Binary", a.Name(), len(a.URL)+len(a.ContentType)) {
		s.Work.Attachments = append(s.Work.Attachments, a)
	}
}
