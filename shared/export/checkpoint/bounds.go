package checkpoint

import "errors"

// What an export keeps while it collects is bounded, whatever a server sends (docs/develop/architecture.md, "Bounds"). What is
// beyond a bound is counted in the outcome and not kept.
const (
	// MaxPages bounds one search, so that a server whose pages never end cannot hold a worker.
	MaxPages = 2000
	// MaxOversize is how many documents that are too large are asked for again in smaller pages: a server that answers
	// nothing else, such as with gzip bombs, is not asked for each type at each size.
	MaxOversize = 40
	// maxResources bounds the resources of a record that are told apart, so that one whose searches never end cannot fill
	// the memory. The largest real ones that were reported have a tenth of that.
	maxResources = 500_000
	// maxWaiting and maxWaitingBytes bound the references and attachments that wait to be read, and the text of their
	// addresses in one run, since a hostile resource can name thousands.
	maxWaiting      = 100_000
	maxWaitingBytes = 8 << 20
	// maxNoted bounds the references that are told apart, those to other servers among them.
	maxNoted = 300_000
	// maxKnownAs bounds the ids, and the identifiers, by which a patient is recognised.
	maxKnownAs = 100
	// maxUnsure bounds each list of Unsure; what is beyond is taken for another server's.
	maxUnsure = 100
)

// ErrLimit says that it is this export that reads no further.
var ErrLimit = errors.New("exceeds the limits of an export")

// Full reports whether no further resource can be told from those that were found.
func (s *State) Full() bool { return len(s.seen.written) >= maxResources }

// overfull reports whether nothing more can wait to be read.
func (s *State) overfull() bool {
	return s.Full() || len(s.seen.noted) >= maxNoted || s.seen.weight >= maxWaitingBytes || s.Work.waiting() >= maxWaiting
}

// Abandon gives up what waits to be read.
func (s *State) Abandon() {
	w := &s.Work
	for _, refs := range [][]Reference{w.Refs, w.Binaries, w.Later.Refs} {
		for _, r := range refs {
			s.Accounts.Limited(r.Type)
		}
	}
	for range len(w.Attachments) + len(w.Later.Attachments) {
		s.Accounts.Limited("Binary")
	}
	w.Refs, w.Binaries, w.Attachments, w.Later.Refs, w.Later.Attachments = nil, nil, nil, nil, nil
}
