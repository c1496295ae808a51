package fhir

import (
	"iter"
	"strconv"
	"strings"
)

// Bundle is one page of search results (FHIR R4 http.html#search). The resources remain in the page's text and are
// parsed one at a time, because a parsed resource can take more memory than its text.
type Bundle struct {
	Total     int    // total number of matches, -1 if not stated; some servers state the page's entry count instead
	Self      string // URL of this page, verbatim; empty if missing or longer than MaxAddress
	Next      string // URL of the next page, verbatim, absolute or relative; empty on the last page
	NextLost  bool   // whether the page has a next link longer than MaxAddress
	EntryBase string // common base of all absolute full URLs; empty if there are none or their bases differ
	Len       int    // number of resources, excluding outcomes
	Outcomes  int    // number of OperationOutcomes and other entries with search.mode "outcome", which are messages
	Unusable  int    // number of entries that lack a valid resourceType, or repeat a resourceType or id

	page  []byte
	spans []span // byte ranges of the resources in page, in page order
}

// span is a byte range of a page.
type span struct{ from, to uint32 }

// ParseBundle parses a page. ParseBundle compacts page in place, so page is overwritten and every Resource.JSON is a
// slice of page. Duplicate members make the Bundle invalid. Errors include ErrInvalid and ErrTooMany.
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

// Alone returns a Bundle that contains only r.
func (r Resource) Alone() Bundle {
	//nolint:gosec // at most MaxPage
	return Bundle{Total: 1, Len: 1, page: r.JSON, spans: []span{{0, uint32(len(r.JSON))}}}
}

// All iterates over the page's resources in page order.
func (b Bundle) All() iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for _, at := range b.spans {
			found, err := Scan(b.page[at.from:at.to:at.to])
			if err != nil { // unreachable: the page has already been scanned
				return
			}
			if !yield(found) {
				return
			}
		}
	}
}

// bundleReader parses a page's Bundle except for its resources. The scanner parses the page's resources.
type bundleReader struct {
	scanner

	bundle  Bundle
	entries int
	differ  bool            // whether full URLs differ in the part before "/Type/id"
	kind    string          // resourceType
	seen    map[string]bool // names of the Bundle's members that were read
}

// maxMembers limits the number of members in the Bundle object itself. FHIR's Bundle type has about a dozen members.
const maxMembers = 100

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

// link parses one Bundle.link. If several links have the same relation, the last one takes precedence.
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

// from records the part of an entry's full URL that precedes name, the resource's "/Type/id". Logical URLs, such as a
// urn:uuid, are ignored.
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

// envelope parses the type and id of a value that should be a resource. usable is true if the value has exactly one
// valid type and at most one id.
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

// mode parses Bundle.entry.search and returns its mode.
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
