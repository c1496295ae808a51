// Package deliverylog owns what an organisation can see of its deliveries: the search for them, and one delivery with
// everything that was sent and answered (docs/reference/deviations.md, Webhooks). It keeps what it shows for 15 days, shows a
// tenant nothing but its own, and changes nothing. Deliveries and attempts are package webhook's, sealing positions for
// clients is package cursor's, and who may look is the caller's business.
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
	// kept is how long a delivery and its attempts are shown. Rows outlive their time until DynamoDB deletes them, up to
	// two days, so the time is compared here (docs/reference/deviations.md, Webhooks).
	kept = 15 * 24 * time.Hour
	// mostEntries is how many deliveries one page shows at most, and defaultEntries when nobody says how many.
	mostEntries, defaultEntries = 100, 50
	// mostRead bounds the rows that are read for one page, however few of them match. Each is at most a few kilobytes.
	mostRead = 500
	// batch is how many rows are read at once where most of them may not match.
	batch = 100
)

// Log searches deliveries. It is safe for concurrent use.
type Log struct {
	Rows          Rows
	Subscriptions Subscriptions
	Now           func() time.Time
}

// Rows reads what the log is about (store.DeliveryLog). Rows are there or are not, whatever their age.
type Rows interface {
	// DeliveriesBefore lists where the deliveries stand that were made at from or later and stand before a place, newest
	// first, at most limit of them, and whether there are more. What was made in the last moments may be missing.
	DeliveriesBefore(ctx context.Context, tenant org.Tenant, before Place, from time.Time, limit int) (found []Place,
		more bool, err error)
	// Deliveries reads deliveries, consistently, in the order of ids, at most 100; those that are not there are left out.
	Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error)
	// Events reads events by id, consistently, at most 100; those that are not there are left out.
	Events(ctx context.Context, tenant org.Tenant, ids []string) (map[string]webhook.Event, error)
	// Attempts lists the newest attempts of a delivery, oldest of them first, at most limit.
	Attempts(ctx context.Context, tenant org.Tenant, deliveryID string, limit int) ([]webhook.Attempt, error)
}

// Subscriptions lists a tenant's subscriptions (store.Hooks).
type Subscriptions interface {
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
}

// Place is where a delivery stands in its tenant's list: by time, those made at the same time by id.
type Place struct {
	MadeAt time.Time
	ID     string // of the delivery; empty stands before all that were made at the same time
}

// stamp writes times in positions, as exactly as rows keep them.
const stamp = "2006-01-02T15:04:05.000000Z"

// position is the text of a place; parsePlace reads it.
func (p Place) position() string { return p.MadeAt.UTC().Format(stamp) + "#" + p.ID }

// parsePlace reads a position that a page ended with.
func parsePlace(position string) (Place, error) {
	at, id, _ := strings.Cut(position, "#")
	made, err := time.Parse(stamp, at)
	if err != nil || id == "" {
		return Place{}, fault.BadRequest("The cursor is not valid for this list. Use next from the previous " +
			"page.").About("after")
	}
	return Place{MadeAt: made, ID: id}, nil
}

// Entry is a delivery as the list shows it.
type Entry struct {
	webhook.Delivery

	Type webhook.Type // of its event; empty when the event has gone already
}

// types reads the types of the events of deliveries, and the events, by id.
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

// isKept tells whether what was made at a time is still shown.
func (l Log) isKept(at time.Time) bool { return at.After(l.Now().Add(-kept)) }
