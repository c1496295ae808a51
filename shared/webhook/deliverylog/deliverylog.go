// Package deliverylog searches an organisation's webhook deliveries and shows individual deliveries with all their
// requests and responses (docs/reference/deviations.md, Webhooks). It shows entries for 15 days and limits a tenant to
// its own deliveries. The caller must authorise access.
package deliverylog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	// kept is the period for which a delivery and its attempts are shown. DynamoDB deletes expired rows up to two days
	// late, so the package itself checks each delivery's age (docs/reference/deviations.md, Webhooks).
	kept = 15 * 24 * time.Hour
	// mostEntries and defaultEntries are the maximum and the default number of deliveries on a page.
	mostEntries, defaultEntries = 100, 50
	// mostRead is the maximum number of rows read for one page, including rows that don't match. Each row is at most a
	// few kilobytes.
	mostRead = 500
	// batch is the number of rows read at once when few rows may match.
	batch = 100
)

// Log searches webhook deliveries. A Log is safe for concurrent use.
type Log struct {
	Rows          Rows
	Subscriptions Subscriptions
	Now           func() time.Time
}

// Rows reads the delivery log's rows regardless of their age; store.DeliveryLog implements it.
type Rows interface {
	// DeliveriesBefore returns the cursors of at most limit deliveries that were created at or after from and precede
	// the cursor before in the list, newest first. It also reports whether more deliveries exist. The most recent
	// deliveries may be missing.
	DeliveriesBefore(ctx context.Context, tenant org.Tenant, before Place, from time.Time, limit int) (found []Place,
		more bool, err error)
	// DeliveriesWith is like DeliveriesBefore, but lists only deliveries with a property. The list may contain a
	// delivery that no longer has the property, and omits deliveries that are not indexed.
	DeliveriesWith(ctx context.Context, tenant org.Tenant, with Property, before Place, from time.Time,
		limit int) (found []Place, more bool, err error)
	// AreIndexed reports whether the tenant's oldest delivery that was created at or after from is indexed. If it is,
	// all later deliveries are also indexed.
	AreIndexed(ctx context.Context, tenant org.Tenant, from time.Time) (bool, error)
	// Deliveries reads at most 100 deliveries with a consistent read, in the order of ids. Deliveries that no longer
	// exist are omitted.
	Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error)
	// Events reads at most 100 events by ID with a consistent read. Events that no longer exist are omitted.
	Events(ctx context.Context, tenant org.Tenant, ids []string) (map[string]webhook.Event, error)
	// Attempts returns at most limit of a delivery's latest attempts, oldest first.
	Attempts(ctx context.Context, tenant org.Tenant, deliveryID string, limit int) ([]webhook.Attempt, error)
}

// Subscriptions returns a tenant's subscriptions; store.Hooks implements it.
type Subscriptions interface {
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
}

// Property is a property by which deliveries are listed.
type Property struct{ By, Value string }

// Names of properties.
const (
	ByStatus  = "status"
	ByWebhook = "webhook" // ID of the subscription
	ByType    = "type"
	BySubject = "subject" // ID of the connection or export
)

// Place is a delivery's cursor in its tenant's list, which is ordered by time and then by ID.
type Place struct {
	MadeAt time.Time
	ID     string // ID of the delivery; an empty ID sorts before all deliveries created at the same time
}

// stamp is the time format in cursors, with the same precision as the times in rows.
const stamp = "2006-01-02T15:04:05.000000Z"

// position returns a cursor in the format that parsePlace accepts.
func (p Place) position() string { return p.MadeAt.UTC().Format(stamp) + "#" + p.ID }

// parsePlace parses a page's cursor.
func parsePlace(position string) (Place, error) {
	at, id, _ := strings.Cut(position, "#")
	made, err := time.Parse(stamp, at)
	if err != nil || id == "" {
		return Place{}, fault.BadRequest("The cursor is not valid for this list. Use next from the previous " +
			"page.").About("after")
	}
	return Place{MadeAt: made, ID: id}, nil
}

// Entry is a delivery's entry in the list.
type Entry struct {
	webhook.Delivery

	Type         webhook.Type // type of the event; empty after the event has expired
	ConnectionID string       // connection that the event is about; empty if there is none
}

func entryOf(d webhook.Delivery, event webhook.Event) Entry {
	return Entry{Delivery: d, Type: event.Type, ConnectionID: event.ConnectionID()}
}

// types returns the deliveries as entries with their event types, and the events by ID.
func (l Log) types(ctx context.Context, tenant org.Tenant,
	deliveries []webhook.Delivery,
) ([]Entry, map[string]webhook.Event, error) {
	ids := make([]string, 0, len(deliveries))
	known := make(map[string]bool, len(deliveries))
	for _, d := range deliveries {
		if !known[d.EventID] {
			ids = append(ids, d.EventID)
		}
		known[d.EventID] = true
	}
	events, err := l.Rows.Events(ctx, tenant, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("read events: %w", err)
	}
	entries := make([]Entry, len(deliveries))
	for i, d := range deliveries {
		entries[i] = entryOf(d, events[d.EventID])
	}
	return entries, events, nil
}

// isKept reports whether deliveries created at the given time are still shown.
func (l Log) isKept(at time.Time) bool { return at.After(l.Now().Add(-kept)) }
