package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
)

// findInquiries searches one page of the tenant's inquiries, newest first, for text that mentions the connection.
// Inquiries don't belong to a connection, but patients and members may mention its ID. One row holds an inquiry and its
// replies.
func (w Worker) findInquiries(ctx context.Context, e *Erasure) error {
	found, last, more, err := w.inquiriesOf(ctx, e, e.At)
	if err != nil {
		return err
	}
	for _, id := range found {
		if !slices.Contains(e.InquiryIDs, id) {
			e.InquiryIDs = append(e.InquiryIDs, id)
			e.Counts.Inquiries++
		}
	}
	e.At = last
	if !more || len(e.InquiryIDs) >= mostHeld { // The final check finds any remaining inquiries.
		e.Stage, e.At = Clearing, Place{}
	}
	return nil
}

// inquiriesOf reads a page of the tenant's inquiries that precede a cursor. The cursor's ID contains the time.
// Inquiries older than the connection are omitted.
func (w Worker) inquiriesOf(ctx context.Context, e *Erasure,
	before Place,
) (found []string, last Place, more bool, err error) {
	places, more, err := w.Store.InquiriesBefore(ctx, e.Tenant, before.ID, page)
	if err != nil {
		return nil, before, false, fmt.Errorf("list inquiries: %w", err)
	}
	for _, place := range places {
		_, id, _ := strings.Cut(place, "#")
		before.ID = place
		i, err := w.Store.Inquiry(ctx, e.Tenant, id)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, before, false, fmt.Errorf("read inquiry: %w", err)
		}
		if i.CreatedAt.Before(e.Since) {
			return found, before, false, nil
		}
		if i.Names(e.ConnectionID) {
			found = append(found, id)
		}
	}
	return found, before, more, nil
}
