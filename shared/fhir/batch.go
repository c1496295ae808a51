package fhir

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Batch returns a Bundle of type batch that requests the given search URLs (FHIR R4 http.html#transaction). The URLs
// are relative to the base.
func Batch(addresses []string) ([]byte, error) {
	type request struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	}
	type entry struct {
		Request request `json:"request"`
	}
	made := struct {
		ResourceType string  `json:"resourceType"`
		Type         string  `json:"type"`
		Entry        []entry `json:"entry"`
	}{ResourceType: "Bundle", Type: "batch"}
	for _, one := range addresses {
		made.Entry = append(made.Entry, entry{request{"GET", one}})
	}
	return json.Marshal(made) //nolint:wrapcheck // texts can always be encoded
}

// ParseBatch returns the pages of a batch-response, in the order of the searches. The page of a failed search has
// IsThere set to false. ParseBatch overwrites answer, as ParseBundle does. ParseBatch returns ErrInvalid if answer is
// not a batch-response.
func ParseBatch(answer []byte) ([]BatchPage, error) {
	reader := batchReader{scanner: scanner{buf: answer}}
	err := reader.document(func() error { return reader.object(1, reader.member) })
	switch {
	case err != nil:
		return nil, err
	case reader.resourceType != "Bundle" || reader.kind != "batch-response":
		return nil, errBundle
	}
	pages := make([]BatchPage, len(reader.entries))
	for i, one := range reader.entries {
		if one.status/100 != 2 {
			continue
		}
		page, err := ParseBundle(answer[one.at.from:one.at.to:one.at.to])
		pages[i] = BatchPage{Bundle: page, Bytes: int(one.at.to - one.at.from), IsThere: err == nil}
	}
	return pages, nil
}

// BatchPage is the first result page of one search in a batch.
type BatchPage struct {
	Bundle

	Bytes   int
	IsThere bool
}

// batchReader parses a batch-response, apart from its resources.
type batchReader struct {
	scanner

	resourceType, kind string
	entries            []batchEntry
}

// batchEntry holds the byte range of one entry's resource in a batch-response and the entry's status.
type batchEntry struct {
	at     span
	status int
}

func (r *batchReader) member(name word) (err error) {
	switch string(name.text()) {
	case "resourceType":
		r.resourceType, err = r.stringOr(2)
	case "type":
		r.kind, err = r.stringOr(2)
	case "entry":
		err = r.array(2, r.entry)
	default:
		err = r.skip(2)
	}
	return err
}

func (r *batchReader) entry() error {
	if len(r.entries) == maxEntries {
		return ErrTooMany
	}
	var found batchEntry
	err := r.object(3, func(name word) (err error) {
		switch string(name.text()) {
		case "resource":
			start := r.end
			err = r.skip(4)
			found.at = span{uint32(start), uint32(r.end)} //nolint:gosec // at most MaxPage
		case "response":
			found.status, err = r.response()
		default:
			err = r.skip(4)
		}
		return err
	})
	r.entries = append(r.entries, found)
	return err
}

// response parses Bundle.entry.response and returns the numeric code at the start of its status.
func (r *batchReader) response() (status int, err error) {
	if r.peek() != '{' {
		return 0, r.skip(4)
	}
	text := ""
	err = r.object(4, func(name word) (err error) {
		if string(name.text()) != "status" {
			return r.skip(5)
		}
		text, err = r.stringOr(5)
		return err
	})
	code, _, _ := strings.Cut(text, " ")
	status, _ = strconv.Atoi(code) // a non-numeric status means failure
	return status, err
}
