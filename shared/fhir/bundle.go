package fhir

import (
	"iter"
	"strconv"
	"strings"
)

// Bundle is one page of search results (FHIR R4 http.html#search). Its resources stay in the page and are read one at a
// time: what is read of them can take more memory than they do.
type Bundle struct {
	Total     int    // the server's count of all matches, -1 when not stated; servers also put the page's count here
	Self      string // address of this page as it stands; empty when not stated, or longer than MaxAddress
	Next      string // address of the next page as it stands, absolute or relative; empty on the last page
	NextLost  bool   // there is a next page, but its address is longer than MaxAddress
	EntryBase string // what every absolute full URL has in front of "/Type/id"; empty without any, and when they differ
	Len       int    // resources, without outcomes
	Outcomes  int    // OperationOutcomes and entries with search.mode "outcome": messages, not records
	Unusable  int    // entries whose resource cannot be told: no valid resourceType, or resourceType or id twice

	page  []byte
	spans []span // of the resources in page, in page order
}

// span is a part of a page.
type span struct{ from, to uint32 }

// ParseBundle reads a page. It compacts page in place, so page is overwritten and every Resource.JSON is a part of
// it. Members of the Bundle itself that stand twice make it invalid. The error is ErrInvalid,
// ErrTooMany among others.
func ParseBundle(page []byte) (Bundle, error) {
	reader := bundleReader{scanner: scanner{buf: page}, bundle: Bundle{Total: -1, page: page}, seen: map[string]bool{}}
	err := reader.document(func() error { return reader.object(1, reader.member) })
	switch {
	case err != nil:
		return Bundle{}, err
	case reader.kind != "Bundle":
		return Bundle{}, errBundle
	}
	reader.bundle.Len = len(reader.bundle.spans)
	return reader.bundle, nil
}

// Alone is a page of its own with the resource.
func (r Resource) Alone() Bundle {
	//nolint:gosec // at most MaxPage
	return Bundle{Total: 1, Len: 1, page: r.JSON, spans: []span{{0, uint32(len(r.JSON))}}}
}

// All reads the resources of the page, in its order.
func (b Bundle) All() iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for _, at := range b.spans {
			found, err := Scan(b.page[at.from:at.to:at.to])
			if err != nil { // not reached: the page has been scanned
				return
			}
			if !yield(found) {
				return
			}
		}
	}
}

// bundleReader reads the envelope of a page; the resources in it are the scanner's.
type bundleReader struct {
	scanner

	bundle  Bundle
	entries int
	differ  bool            // full URLs have different things in front of "/Type/id"
	kind    string          // resourceType
	seen    map[string]bool // names of the Bundle's members read so far
}

// maxMembers bounds the members of a Bundle itself; FHIR has a dozen.
const maxMembers = 100

// member reads one member of the Bundle.
func (r *bundleReader) member(name word) (err error) {
	text := string(name.text())
	if r.seen[text] || len(r.seen) == maxMembers {
		return errBundle
	}
	r.seen[text] = true
	switch text {
	case "resourceType":
		r.kind, err = r.stringOr(2)
		return err
	case "total":
		return r.total()
	case "link":
		return r.array(2, r.link)
	case "entry":
		return r.array(2, r.entry)
	default:
		return r.skip(2)
	}
}

func (r *bundleReader) total() error {
	start := r.end
	if err := r.skip(2); err != nil {
		return err
	}
	if total, err := strconv.Atoi(string(r.buf[start:r.end])); err == nil && total >= 0 {
		r.bundle.Total = total
	}
	return nil
}

// link reads one Bundle.link. Of two links of the same relation the last counts.
func (r *bundleReader) link() error {
	var relation string
	var target word
	err := r.object(3, func(name word) (err error) {
		switch string(name.text()) {
		case "relation":
			relation, err = r.stringOr(4)
		case "url":
			if target = (word{}); r.peek() == '"' {
				target, err = r.string()
				return err
			}
			err = r.skip(4)
		default:
			err = r.skip(4)
		}
		return err
	})
	switch relation {
	case "next":
		r.bundle.Next = string(target.upTo(MaxAddress))
		r.bundle.NextLost = len(target.raw) > MaxAddress
	case "self":
		r.bundle.Self = string(target.upTo(MaxAddress))
	}
	return err
}

// entry reads one Bundle.entry and files its resource.
func (r *bundleReader) entry() error {
	if r.entries++; r.entries > maxEntries {
		return ErrTooMany
	}
	var mode, address, resourceType, id string
	var at span
	resources, usable := 0, false
	err := r.object(3, func(name word) (err error) {
		switch string(name.text()) {
		case "fullUrl":
			address, err = r.addressOr(4)
		case "resource":
			resources++
			start := r.end
			resourceType, id, usable, err = r.envelope(4)
			at = span{uint32(start), uint32(r.end)} //nolint:gosec // at most MaxPage
		case "search":
			mode, err = r.mode()
		default:
			err = r.skip(4)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case resources == 0:
		return nil
	case resources > 1 || !usable:
		r.bundle.Unusable++
	case mode == "outcome" || resourceType == "OperationOutcome":
		r.bundle.Outcomes++
	default:
		r.bundle.spans = append(r.bundle.spans, at)
		r.from(address, "/"+resourceType+"/"+id)
	}
	return nil
}

// from notes which base the full URL of an entry is under, whose resource has the name "/Type/id". A logical one, such
// as urn:uuid, tells of none.
func (r *bundleReader) from(address, name string) {
	base, ok := strings.CutSuffix(address, name)
	if !ok || r.differ || !strings.HasPrefix(base, "http") {
		return
	}
	if r.differ = r.bundle.EntryBase != "" && r.bundle.EntryBase != base; r.differ {
		base = ""
	}
	r.bundle.EntryBase = base
}

// envelope reads a value that should be a resource, and of it only type and id. usable is as with resource.
func (r *bundleReader) envelope(depth int) (resourceType, id string, usable bool, err error) {
	if r.peek() != '{' {
		return "", "", false, r.skip(depth)
	}
	types, ids := 0, 0
	err = r.object(depth, func(name word) (err error) {
		switch string(name.text()) {
		case "resourceType":
			types++
			resourceType, err = r.stringOr(depth + 1)
			return err
		case "id":
			ids++
			id, err = r.stringOr(depth + 1)
			return err
		}
		return r.skip(depth + 1)
	})
	return resourceType, id, types == 1 && ids <= 1 && ValidType(resourceType), err
}

// mode reads Bundle.entry.search and returns its mode.
func (r *bundleReader) mode() (mode string, err error) {
	if r.peek() != '{' {
		return "", r.skip(4)
	}
	err = r.object(4, func(name word) (err error) {
		if string(name.text()) != "mode" {
			return r.skip(5)
		}
		mode, err = r.stringOr(5)
		return err
	})
	return mode, err
}
