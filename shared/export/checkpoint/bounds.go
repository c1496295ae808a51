package checkpoint

import "errors"

// The state that an export holds while collecting is bounded, whatever a server sends (docs/develop/architecture.md,
// "Bounds"). Anything beyond a bound is counted in the outcome and dropped.
const (
	// MaxPages bounds one search, so that a server whose pages never end cannot hold a worker.
	MaxPages = 2000
	// MaxOversize limits how many oversized documents are requested again in smaller pages. Without it, a server that
	// returns nothing but gzip bombs would be asked for each type at each size.
	MaxOversize = 40
	// maxResources bounds the number of distinct resources of a record, so that a record whose searches never end cannot
	// fill the memory. The largest reported real records have a tenth of that.
	maxResources = 500_000
	// maxWaiting and maxWaitingBytes bound the number of references and attachments waiting to be read, and the total
	// length of their URLs in one run, since a hostile resource can name thousands.
	maxWaiting      = 100_000
	maxWaitingBytes = 8 << 20
	// maxNoted bounds the number of distinct references, including those to other servers.
	maxNoted = 300_000
	// maxKnownAs bounds the ids, and the identifiers, that identify a patient.
	maxKnownAs = 100
	// maxUnresolved bounds each list of Unresolved; anything beyond it is treated as another server's.
	maxUnresolved = 100
)

// ErrLimit means that this export has reached its own limit and reads no further.
var ErrLimit = errors.New("exceeds the limits of an export")

// Full reports whether the export can track no further distinct resource.
func (s *State) Full() bool { return len(s.seen.written) >= maxResources }

// overfull reports whether the queue of resources to read is full.
func (s *State) overfull() bool {
	return s.Full() || len(s.seen.noted) >= maxNoted || s.seen.weight >= maxWaitingBytes || s.Work.waiting() >= maxWaiting
}

// Abandon drops everything that waits to be read.
func (s *State) Abandon() {
	w := &s.Work
	for _, refs := range [][]Reference{w.Refs, w.Binaries, w.Deferred.Refs} {
		for _, r := range refs {
			s.Accounts.Limited(r.Type)
		}
	}
	for range len(w.Attachments) + len(w.Deferred.Attachments) {
		s.Accounts.Limited("Binary")
	}
	w.Refs, w.Binaries, w.Attachments, w.Deferred.Refs, w.Deferred.Attachments = nil, nil, nil, nil, nil
}
