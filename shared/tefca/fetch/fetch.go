// Package fetch reads what a facility of a network has of a person while the person's assertion lives: it lists and
// retrieves the documents, and converts them into one record in which no fact stands twice. It keeps nothing.
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
	// maxDocuments and maxBytes bound what is had of one facility, retrieved or on its way: what the worker's memory bears
	// of several facilities at once. The newest documents are read first.
	maxDocuments = 200
	maxBytes     = 48 << 20
	// maxDocument is the largest document in bytes.
	maxDocument = 16 << 20
	// atOnce is how many documents of a facility are retrieved at the same time, if they are small.
	atOnce = 4
)

// Reader reads facilities that have documents.
type Reader struct{}

// Read makes a record of a facility's documents, of those that are about the person. What cannot be had is counted by
// reason (export.LossReason); where none can, or they cannot be listed, the error is the network's, or
// tefca.ErrOtherPerson. None at all is no error, nor are documents that are no CDA by their list: they are left alone,
// and counted as what cannot be exported.
func (Reader) Read(ctx context.Context, network tefca.Network, who tefca.Assertion,
	at tefca.Facility,
) (records.Content, error) {
	listed, err := network.Documents(ctx, who, at)
	r := newReading(who.Person, at.ID)
	if err != nil {
		r.loseListed(ctx, err)
	}
	if err != nil && len(listed) == 0 {
		r.tellOthers(ctx)
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
	_ = group.Wait() // what fails is counted
	r.tellOthers(ctx)
	if r.taken == 0 && r.last != nil {
		return records.Content{}, fmt.Errorf("retrieve documents: %w", r.last)
	}
	return records.Content{Resources: r.feed(), Documents: r.taken, Lost: r.lost}, nil
}

// feed hands out the resources of the documents. It converts them when it is first called, and then counts as lost
// those of which parts were left out.
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

// Converted is the record that one document makes, converted when it is asked for.
func Converted(document []byte) records.Feed {
	return func(put func(resource []byte) error) error {
		if _, err := ccda.Convert(document, func(r ccda.Resource) error { return put(r.JSON) }); err != nil {
			return fmt.Errorf("convert a document: %w", err)
		}
		return nil
	}
}
