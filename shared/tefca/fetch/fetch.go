// Package fetch reads a person's documents from a network facility while the person's assertion is valid. It lists and
// retrieves the documents and converts them into one record without duplicate facts.
package fetch

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/fhir/ccda"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/records"
)

const (
	// maxDocuments and maxBytes limit one facility's documents, including those being retrieved, because the documents
	// of several facilities must fit into the worker's memory. The newest documents are retrieved first.
	maxDocuments = 200
	maxBytes     = 48 << 20
	// maxDocument is the maximum size of a document in bytes.
	maxDocument = 16 << 20
	// atOnce is the maximum number of a facility's documents that are retrieved concurrently. maxBytes further limits
	// large documents.
	atOnce = 4
)

// Reader reads records from facilities that provide documents.
type Reader struct{}

// Read creates a record from the facility's documents about the person, and counts missing documents by reason
// (export.LossReason). If it can't list the documents or can't retrieve any of them, it returns the network's error or
// tefca.ErrOtherPerson. An empty list is not an error. Documents that the list doesn't declare as CDA are skipped and
// counted as unsupported.
func (Reader) Read(ctx context.Context, network tefca.Network, who tefca.Assertion,
	at tefca.Facility,
) (records.Content, error) {
	listed, err := network.Documents(ctx, who, at)
	r := newReading(who.Person, at.ID)
	if err != nil {
		r.loseListed(ctx, err)
	}
	if err != nil && len(listed) == 0 {
		r.logOtherPersons(ctx)
		return records.Content{}, fmt.Errorf("list documents: %w", err)
	}
	listed = r.convertible(listed)
	slices.SortStableFunc(listed, func(a, b tefca.Document) int { return b.Made.Compare(a.Made) })
	if len(listed) > maxDocuments {
		r.lost["limit"] = len(listed) - maxDocuments
		listed = listed[:maxDocuments]
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, document := range listed {
		room := r.reserve(document.Size)
		if room == 0 {
			continue
		}
		group.Go(func() error {
			body, err := network.Retrieve(ctx, who, at, document, room)
			r.take(document, room, body, err)
			return nil
		})
	}
	_ = group.Wait() // failures are counted separately
	r.logOtherPersons(ctx)
	if r.taken == 0 && r.last != nil {
		return records.Content{}, fmt.Errorf("retrieve documents: %w", r.last)
	}
	return records.Content{Resources: r.feed(), Documents: r.taken, Lost: r.lost}, nil
}

// feed returns a feed of the resources in the documents. The first call converts the documents. A partially converted
// document counts as missing in part.
func (r *reading) feed() records.Feed {
	var converted *ccda.Converted
	var own names
	return func(put func(resource []byte) error) error {
		if converted == nil {
			converted = r.set.Convert()
			own = namesIn(r.facility, converted.Names())
			for _, document := range converted.Report.Documents {
				switch {
				case document.IsCut():
					r.lost["limit"]++
				case document.IsPartial():
					r.lost["not_converted"]++
				}
			}
		}
		err := converted.Emit(func(resource ccda.Resource) error {
			own.replace(resource.JSON)
			return put(resource.JSON)
		})
		if err != nil {
			return fmt.Errorf("emit resources: %w", err)
		}
		return nil
	}
}

// Converted returns the record in a single document, which is converted on first use.
func Converted(document []byte) records.Feed {
	return func(put func(resource []byte) error) error {
		if _, err := ccda.Convert(document, func(r ccda.Resource) error { return put(r.JSON) }); err != nil {
			return fmt.Errorf("convert a document: %w", err)
		}
		return nil
	}
}
