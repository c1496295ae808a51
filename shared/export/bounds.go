package export

import "errors"

// What an export keeps while it collects is bounded, whatever a server sends (docs/architecture.md, Bounds). What is beyond a
// bound is counted in the outcome and not kept.
const (
	// maxPages bounds one search, so that a server whose pages never end cannot hold a worker.
	maxPages = 2000
	// maxResources bounds the resources of a record that are told apart, so that one whose searches never end cannot fill the
	// memory. The largest real ones that were reported have a tenth of that.
	maxResources = 500_000
	// maxWaiting and maxWaitingBytes bound the references and attachments that wait to be read, and the text of their
	// addresses in one run, since a hostile resource can name thousands.
	maxWaiting      = 100_000
	maxWaitingBytes = 8 << 20
	// maxNoted bounds the references that are told apart, those to other servers among them.
	maxNoted = 300_000
	// maxKnownAs bounds the ids, and the identifiers, by which a patient is recognised.
	maxKnownAs = 100
	// maxOversize is how many documents that are too large are asked for again in smaller pages: a server that answers
	// nothing else, such as with gzip bombs, is not asked for each type at each size.
	maxOversize = 40
)

// errLimit says that it is this export that reads no further.
var errLimit = errors.New("beyond what one export may hold")

// full reports whether no further resource can be told from those that were found.
func (c *checkpoint) full() bool { return len(c.written) >= maxResources }

// overfull reports whether nothing more can wait to be read.
func (c *checkpoint) overfull() bool {
	return c.full() || len(c.noted) >= maxNoted || c.weight >= maxWaitingBytes ||
		len(c.Refs)+len(c.Binaries)+len(c.Attachments)+c.Later.size() >= maxWaiting
}

// miss counts a resource that is known of and is not read, because some bound is reached.
func (c *checkpoint) miss(resourceType string) {
	account := c.account(resourceType)
	account.Missing++
	account.fail(OutcomeTruncated, LossLimit, 0)
}

// abandon gives up what waits to be read.
func (c *checkpoint) abandon() {
	for _, refs := range [][]reference{c.Refs, c.Binaries, c.Later.Refs} {
		for _, r := range refs {
			c.miss(r.Type)
		}
	}
	for range len(c.Attachments) + len(c.Later.Attachments) {
		c.miss("Binary")
	}
	c.Refs, c.Binaries, c.Attachments, c.Later.Refs, c.Later.Attachments = nil, nil, nil, nil, nil
}
