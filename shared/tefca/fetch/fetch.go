// Package fetch reads what a facility of a network has of a person while the person's assertion lives: it lists and retrieves the
// documents, and converts them into one record in which no fact stands twice. It keeps nothing and logs nothing.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
)

const (
	// maxDocuments and maxBytes bound what is read of one facility: what the worker's memory bears of several at once. The newest
	// documents are read first.
	maxDocuments = 200
	maxBytes     = 48 << 20
	// maxDocument is the largest document in bytes.
	maxDocument = 16 << 20
	// atOnce is how many documents of a facility are retrieved at the same time.
	atOnce = 4
)

// Reader reads facilities that have documents.
type Reader struct{}

// Read makes a record of a facility's documents. Those that cannot be had are counted by reason (export.LossReason); where none can, or
// they cannot be listed, the error is the network's. None at all is no error.
func (Reader) Read(ctx context.Context, network tefca.Network, who tefca.Assertion, at tefca.Facility) (records.Content, error) {
	listed, err := network.Documents(ctx, who, at)
	if err != nil && len(listed) == 0 {
		return records.Content{}, fmt.Errorf("list documents: %w", err)
	}
	r := reading{lost: map[string]int{}}
	if err != nil { // how many are missing from the list, nobody knows
		r.lose(err)
	}
	slices.SortStableFunc(listed, func(a, b tefca.Document) int { return b.Made.Compare(a.Made) })
	if len(listed) > maxDocuments {
		r.lost["limit"] = len(listed) - maxDocuments
		listed = listed[:maxDocuments]
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, document := range listed {
		group.Go(func() error {
			if !r.hasRoom(document.Size) {
				return nil
			}
			body, err := network.Retrieve(ctx, who, at, document, maxDocument)
			r.take(body, err)
			return nil
		})
	}
	_ = group.Wait() // what fails is counted
	if r.taken == 0 && r.last != nil {
		return records.Content{}, fmt.Errorf("retrieve documents: %w", r.last)
	}
	return records.Content{Resources: feed(&r.set), Documents: r.taken, Lost: r.lost}, nil
}

// reading is one facility's documents.
type reading struct {
	mu    sync.Mutex
	set   ccda.Set
	bytes int64
	taken int
	lost  map[string]int
	last  error // the last document's that could not be had
}

// hasRoom reports whether a document may be retrieved, of a size that may not be known, and counts one that may not.
func (r *reading) hasRoom(size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes+size <= maxBytes {
		return true
	}
	r.lost["limit"]++
	return false
}

// take adds a document, or counts that it could not be had.
func (r *reading) take(body []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.bytes+int64(len(body)) > maxBytes {
		r.lost["limit"]++
		return
	}
	if err == nil {
		err = r.set.Add(body)
	}
	if err != nil {
		r.lose(err)
		return
	}
	r.bytes += int64(len(body))
	r.taken++
}

// lose counts what could not be had.
func (r *reading) lose(err error) {
	if errors.Is(err, ccda.ErrInvalid) {
		err = fmt.Errorf("%w: %w", tefca.ErrContent, err)
	}
	r.last = err
	r.lost[lossOf(err)]++
}

// lossOf classes why a document is missing from a record (export.LossReason).
func lossOf(err error) string {
	for _, of := range []struct {
		err    error
		reason string
	}{
		{tefca.ErrRefused, "refused"}, {tefca.ErrNotFound, "not_found"}, {tefca.ErrTooLarge, "too_large"}, {tefca.ErrContent, "invalid_content"},
	} {
		if errors.Is(err, of.err) {
			return of.reason
		}
	}
	return "unavailable" // also where the identity has ended meanwhile, or time is up
}

// feed hands out the resources of documents, once: it may be asked again and tells the same.
func feed(set *ccda.Set) records.Feed {
	var kept [][]byte
	return func(put func(resource []byte) error) error {
		if kept == nil {
			if _, err := set.Emit(func(r ccda.Resource) error {
				kept = append(kept, r.JSON)
				return nil
			}); err != nil {
				return fmt.Errorf("convert documents: %w", err)
			}
		}
		for _, resource := range kept {
			if err := put(resource); err != nil {
				return err
			}
		}
		return nil
	}
}

// Converted is the record that one document makes, converted when it is asked for.
func Converted(document []byte) records.Feed {
	return func(put func(resource []byte) error) error {
		if _, err := ccda.Convert(document, func(r ccda.Resource) error { return put(r.JSON) }); err != nil {
			return fmt.Errorf("convert a document: %w", err)
		}
		return nil
	}
}
