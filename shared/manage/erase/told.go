package erase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
)

// findEvents searches one page of the tenant's events for those about the connection and stops their delivery.
func (w Worker) findEvents(ctx context.Context, e *Erasure) error {
	found, last, more, err := w.eventsOf(ctx, e, e.At)
	if err != nil {
		return err
	}
	for _, event := range found {
		if err := w.Store.FanOut(ctx, event, nil); err != nil && !errors.Is(err, fault.Conflict) {
			return fmt.Errorf("hold event: %w", err)
		}
		if !slices.Contains(e.EventIDs, event.ID) {
			e.EventIDs = append(e.EventIDs, event.ID)
			e.Counts.Events++
		}
	}
	e.At = last
	if e.MoreEvents = more && len(e.EventIDs) >= mostHeld; !more || e.MoreEvents {
		e.Stage, e.At = Deliveries, Place{}
	}
	return nil
}

// eventsOf reads a page of the tenant's events after a cursor.
func (w Worker) eventsOf(ctx context.Context, e *Erasure,
	from Place,
) (found []webhook.Event, last Place, more bool, err error) {
	events, more, err := w.Store.EventsAfter(ctx, webhook.Event{Tenant: e.Tenant, CreatedAt: from.MadeAt, ID: from.ID},
		w.Now(), page)
	if err != nil {
		return nil, from, false, fmt.Errorf("read events: %w", err)
	}
	for _, event := range events {
		if bytes.Contains(event.Body, []byte(e.ConnectionID)) {
			found = append(found, event)
		}
		from = Place{MadeAt: event.CreatedAt, ID: event.ID}
	}
	return found, from, more && len(events) > 0, nil
}

// findDeliveries searches a page of the tenant's deliveries, newest first, for deliveries of the events that findEvents
// found.
func (w Worker) findDeliveries(ctx context.Context, e *Erasure) error {
	if e.At.MadeAt.IsZero() {
		e.At = Place{MadeAt: w.Now().Add(indexTime)}
	}
	found, last, more, err := w.deliveriesOf(ctx, e, e.At)
	if err != nil {
		return err
	}
	for _, id := range found {
		if slices.Contains(e.DeliveryIDs, id) {
			continue
		}
		attempts, err := w.Store.CountAttempts(ctx, e.Tenant, id)
		if err != nil {
			return fmt.Errorf("count attempts: %w", err)
		}
		e.DeliveryIDs = append(e.DeliveryIDs, id)
		e.Counts.Deliveries++
		e.Counts.Attempts += attempts
	}
	e.At = last
	if e.MoreDeliveries = more && len(e.DeliveryIDs) >= mostHeld; !more || e.MoreDeliveries {
		e.Stage, e.At = Inquiries, Place{}
	}
	return nil
}

// deliveriesOf reads a page of the tenant's deliveries before a cursor.
func (w Worker) deliveriesOf(ctx context.Context, e *Erasure,
	before Place,
) (found []string, last Place, more bool, err error) {
	places, more, err := w.Store.DeliveriesBefore(ctx, e.Tenant, deliverylog.Place(before), e.Since, page)
	if err != nil {
		return nil, before, false, fmt.Errorf("list deliveries: %w", err)
	}
	all := make([]string, 0, len(places))
	for _, place := range places {
		all = append(all, place.ID)
		before = Place(place)
	}
	rows, err := w.Store.Deliveries(ctx, e.Tenant, all)
	if err != nil {
		return nil, before, false, fmt.Errorf("read deliveries: %w", err)
	}
	for _, row := range rows {
		if slices.Contains(e.EventIDs, row.EventID) {
			found = append(found, row.ID)
		}
	}
	return found, before, more && len(places) > 0, nil
}

// clear removes deliveries before their events, because only the event identifies a delivery's connection.
func (w Worker) clear(ctx context.Context, e *Erasure) (time.Duration, error) {
	for _, id := range e.DeliveryIDs {
		if err := w.Store.RemoveDelivery(ctx, e.Tenant, id); err != nil {
			return 0, fmt.Errorf("remove delivery: %w", err)
		}
	}
	if e.MoreDeliveries {
		e.Stage, e.DeliveryIDs, e.MoreDeliveries = Deliveries, nil, false
		return 0, nil
	}
	for _, id := range e.EventIDs {
		if err := w.Store.RemoveEvent(ctx, e.Tenant, id); err != nil {
			return 0, fmt.Errorf("remove event: %w", err)
		}
	}
	for _, id := range e.InquiryIDs {
		if err := w.Store.RemoveInquiry(ctx, e.Tenant, id); err != nil {
			return 0, fmt.Errorf("remove inquiry: %w", err)
		}
	}
	if e.MoreEvents {
		e.Stage, e.At, e.EventIDs, e.DeliveryIDs, e.MoreEvents = Events, Place{MadeAt: e.Since}, nil, nil, false
		return 0, nil
	}
	e.Stage = Looking
	return quiet, nil
}

// look removes data that remains or was added since the last step, and schedules another check. If no data remains, it
// marks the erasure as done and writes the audit row that proves the erasure.
func (w Worker) look(ctx context.Context, e *Erasure) (time.Duration, error) {
	left, err := w.removeFiles(ctx, e)
	if err != nil {
		return 0, err
	}
	if left > 0 {
		e.Counts.Files += left
		return askAgain, nil
	}
	isLeft, err := w.isLeft(ctx, e)
	if err != nil {
		return 0, err
	}
	if isLeft {
		e.Stage = Ending
		return 0, nil
	}
	if err := w.prove(ctx, *e); err != nil {
		return 0, err
	}
	e.Stage, e.FinishedAt, e.DueAt, e.Since, e.At = Done, w.Now(), time.Time{}, time.Time{}, Place{}
	e.ConnectionID, e.Tasks, e.EventIDs, e.DeliveryIDs, e.InquiryIDs = "", nil, nil, nil, nil
	return 0, nil
}

// isLeft reports whether any of the connection's rows remain.
func (w Worker) isLeft(ctx context.Context, e *Erasure) (bool, error) {
	_, err := w.Store.Connection(ctx, e.Tenant, e.ConnectionID)
	if err == nil || !errors.Is(err, fault.NotFound) {
		return true, err
	}
	held, err := w.Store.TokenRows(ctx, e.Tenant, e.ConnectionID)
	if err != nil || held > 0 {
		return true, err
	}
	tasks, err := w.Store.Exports(ctx, e.Tenant, e.ConnectionID)
	if err != nil || len(tasks) > 0 {
		return true, err
	}
	for at, more := (Place{MadeAt: e.Since}), true; more; {
		var found []webhook.Event
		if found, at, more, err = w.eventsOf(ctx, e, at); err != nil || len(found) > 0 {
			return true, err
		}
	}
	for at, more := (Place{MadeAt: w.Now().Add(indexTime)}), true; more; {
		var found []string
		if found, at, more, err = w.deliveriesOf(ctx, e, at); err != nil || len(found) > 0 {
			return true, err
		}
	}
	for at, more := (Place{}), true; more; {
		var found []string
		if found, at, more, err = w.inquiriesOf(ctx, e, at); err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// prove writes the erasure's audit row exactly once.
func (w Worker) prove(ctx context.Context, e Erasure) error {
	isThere, err := w.Audit.Has(ctx, e.Tenant.OrgID, e.ID, e.RequestedAt)
	if err != nil || isThere {
		return err
	}
	c := e.Counts
	target := fmt.Sprintf("%s portal=%s connections=%d tokens=%d exports=%d files=%d events=%d deliveries=%d "+
		"attempts=%d inquiries=%d",
		e.ConnectionID, e.Portal, c.Connections, c.Tokens, c.Exports, c.Files, c.Events, c.Deliveries,
		c.Attempts, c.Inquiries)
	if err := w.Audit.Append(ctx, audit.Row{
		At: w.Now(), ID: e.ID, Tenant: e.Tenant, Actor: "eraser", Action: "connection.erased", Target: target,
	}); err != nil {
		return fmt.Errorf("write audit row: %w", err)
	}
	return nil
}
