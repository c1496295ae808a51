// Package deliverylog owns an organisation's view of its deliveries: searching them, and showing one delivery with all
// its requests and responses (docs/reference/deviations.md, Webhooks). It shows entries for 15 days, limits a tenant to
// its own, and changes nothing. Package webhook owns deliveries and attempts, package cursor seals cursors for clients,
// and the caller decides who has access.
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
	// kept is the time for which a delivery and its attempts are shown. DynamoDB deletes expired rows up to two days late,
	// so the time is compared here (docs/reference/deviations.md, Webhooks).
	kept = 15 * 24 * time.Hour
	// mostEntries is the maximum number of deliveries on a page, and defaultEntries the default.
	mostEntries, defaultEntries = 100, 50
	// mostRead limits the rows that are read for one page, however few of them match. Each is at most a few kilobytes.
	mostRead = 500
	// batch is the number of rows read at once if most of them may not match.
	batch = 100
)

// Log searches deliveries. It is safe for concurrent use.
type Log struct {
	Rows          Rows
	Subscriptions Subscriptions
	Now           func() time.Time
}

// Rows reads the rows of the log (store.DeliveryLog). It does not consider their age.
type Rows interface {
	// DeliveriesBefore returns the cursors of deliveries that were created at or after from and precede a cursor, newest
	// first, at most limit, and reports whether there are more. The most recent deliveries may be missing.
	DeliveriesBefore(ctx context.Context, tenant org.Tenant, before Place, from time.Time, limit int) (found []Place,
		more bool, err error)
	// Deliveries reads deliveries, consistently, in the order of ids, at most 100; missing ones are omitted.
	Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error)
	// Events reads events by id, consistently, at most 100; missing ones are omitted.
	Events(ctx context.Context, tenant org.Tenant, ids []string) (map[string]webhook.Event, error)
	// Attempts returns the latest attempts of a delivery, at most limit, oldest first.
	Attempts(ctx context.Context, tenant org.Tenant, deliveryID string, limit int) ([]webhook.Attempt, error)
}

// Subscriptions returns a tenant's subscriptions (store.Hooks).
type Subscriptions interface {
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
}

// Place is a delivery's cursor in its tenant's list, which is ordered by time, then id.
type Place struct {
	MadeAt time.Time
	ID     string // of the delivery; empty precedes all deliveries created at the same time
}

// stamp is the format of times in cursors, with the precision of rows.
const stamp = "2006-01-02T15:04:05.000000Z"

// position returns the text of a cursor; parsePlace parses it.
func (p Place) position() string { return p.MadeAt.UTC().Format(stamp) + "#" + p.ID }

// parsePlace parses the cursor of a page.
func parsePlace(position string) (Place, error) {
	at, id, _ := strings.Cut(position, "#")
	made, err := time.Parse(stamp, at)
	if err != nil || id == "" {
		return Place{}, fault.BadRequest("The position is not one of this list. Give the next that the page before ended " +
			"with.").About("after")
	}
	return Place{MadeAt: made, ID: id}, nil
}

// Entry is a delivery as the list shows it.
type Entry struct {
	webhook.Delivery

	Type webhook.Type // of its event; empty if the event has expired
}

// types returns the types of the deliveries' events, and the events, by id.
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
		entries[i] = Entry{Delivery: d, Type: events[d.EventID].Type}
	}
	return entries, events, nil
}

// isKept reports whether deliveries created at a time are still shown.
func (l Log) isKept(at time.Time) bool { return at.After(l.Now().Add(-kept)) }
