package checkpoint

import "errors"

// The size of an export's collection state is bounded, whatever a server sends (docs/develop/architecture.md,
// "Bounds"). Anything beyond a bound is counted in the outcome and dropped.
const (
	// MaxPages limits the pages of one search, so a server with endless pages cannot occupy a worker forever.
	MaxPages = 2000
	// MaxOversize limits how many oversized responses are requested again in smaller pages. Without this limit, a server
	// that returns only gzip bombs would receive a request for each type at each page size.
	MaxOversize = 40
	// maxResources limits the distinct resources of a record, so endless searches cannot exhaust memory. The largest real
	// records reported have a tenth of this number.
	maxResources = 500_000
	// maxWaiting and maxWaitingBytes limit the number of references and attachments waiting to be read, and the total
	// length of their URLs in one run. A hostile resource can name thousands of them.
	maxWaiting      = 100_000
	maxWaitingBytes = 8 << 20
	// maxNoted limits the number of distinct references, including references to other servers.
	maxNoted = 300_000
	// maxKnownAs limits the ids of a patient, and likewise the business identifiers.
	maxKnownAs = 100
	// maxUnresolved limits each list in Unresolved. URLs beyond the limit are treated as belonging to another server.
	maxUnresolved = 100
)

// ErrLimit means that the export has reached one of its own limits and stops reading.
var ErrLimit = errors.New("exceeds the limits of an export")

// Full reports whether the export has reached its limit of distinct resources.
func (s *State) Full() bool { return len(s.seen.written) >= maxResources }

// overfull reports whether the queue of resources to read is full.
func (s *State) overfull() bool {
	return s.Full() || len(s.seen.noted) >= maxNoted || s.seen.weight >= maxWaitingBytes || s.Work.waiting() >= maxWaiting
}

// Abandon drops all resources and attachments that are waiting to be read.
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
