package fhir

import (
	"strconv"
)

// Bundle is one page of search results (FHIR R4 http.html#search).
type Bundle struct {
	Total     int        // the server's count of all matches, -1 when not stated; servers also put the page's count here
	Next      string     // address of the next page as it stands, absolute or relative; empty on the last page
	Resources []Resource // in page order, without outcomes
	Outcomes  []Resource // OperationOutcomes and entries with search.mode "outcome": messages, not records
	Unusable  int        // entries whose resource cannot be told: no valid resourceType, or resourceType or id twice
}

// ParseBundle reads a page. It compacts page in place, so page is overwritten and every Resource.JSON is a part of
// it. Members of the Bundle itself that stand twice make it invalid. The error is ErrInvalid,
// ErrTooMany among others.
func ParseBundle(page []byte) (Bundle, error) {
	reader := bundleReader{scanner: scanner{buf: page}, bundle: Bundle{Total: -1}, seen: map[string]bool{}}
	err := reader.document(func() error { return reader.object(1, reader.member) })
	switch {
	case err != nil:
		return Bundle{}, err
	case reader.kind != "Bundle":
		return Bundle{}, errBundle
	}
	return reader.bundle, nil
}

// bundleReader reads the envelope of a page; the resources in it are the scanner's.
type bundleReader struct {
	scanner

	bundle  Bundle
	entries int
	kind    string          // resourceType
	seen    map[string]bool // names of the Bundle's members read so far
}

// member reads one member of the Bundle.
func (r *bundleReader) member(name word) (err error) {
	text := string(name.text())
	if r.seen[text] {
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

// link reads one Bundle.link. Of two next links the last counts.
func (r *bundleReader) link() error {
	var relation, target string
	err := r.object(3, func(name word) (err error) {
		switch string(name.text()) {
		case "relation":
			relation, err = r.stringOr(4)
		case "url":
			target, err = r.stringOr(4)
		default:
			err = r.skip(4)
		}
		return err
	})
	if relation == "next" {
		r.bundle.Next = target
	}
	return err
}

// entry reads one Bundle.entry and files its resource.
func (r *bundleReader) entry() error {
	if r.entries++; r.entries > maxEntries {
		return ErrTooMany
	}
	var found Resource
	var mode string
	resources, usable := 0, false
	err := r.object(3, func(name word) (err error) {
		switch string(name.text()) {
		case "resource":
			resources++
			found, usable, err = r.resource(4)
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
	case mode == "outcome" || found.Type == "OperationOutcome":
		r.bundle.Outcomes = append(r.bundle.Outcomes, found)
	default:
		r.bundle.Resources = append(r.bundle.Resources, found)
	}
	return nil
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
