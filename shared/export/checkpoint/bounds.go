package checkpoint

import "errors"

// The size of an export's collection state is bounded, regardless of the server's responses
// (docs/develop/architecture.md, "Bounds"). Items beyond a limit are dropped and counted in the outcome.
const (
	// MaxPages limits the number of pages in a search, so a server that returns endless pages cannot occupy a worker
	// forever.
	MaxPages = 2000
	// MaxOversize limits how many requests are repeated with a smaller page size after an oversized response. Without
	// this limit, a hostile server could provoke one request per resource type and page size.
	MaxOversize = 40
	// maxResources limits the number of distinct resources in a record, so endless searches cannot exhaust memory. The
	// largest known patient records contain a tenth as many resources.
	maxResources = 500_000
	// maxWaiting limits the number of references and attachments that are waiting to be read. maxWaitingBytes limits
	// the total length of their URLs in a single run. A hostile resource can contain thousands of references.
	maxWaiting      = 100_000
	maxWaitingBytes = 8 << 20
	// maxNoted limits the number of distinct references that an export stores, including references to other servers.
	maxNoted = 300_000
	// maxKnownAs limits the number of a patient's ids and, separately, of the patient's business identifiers.
	maxKnownAs = 100
	// maxUnresolved limits the length of each list in Unresolved. URLs beyond the limit are treated as belonging to
	// another server.
	maxUnresolved = 100
)

// ErrLimit means that the export reached one of its limits and stopped reading.
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
