package deliverylog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Query selects the deliveries that match all of its fields. The zero Query selects all deliveries.
type Query struct {
	// ID is a delivery ID or an event ID. An event ID selects the event's deliveries to existing subscriptions.
	ID             string
	SubscriptionID string
	Type           webhook.Type
	// Subject is the ID of the connection or export that the event is about.
	Subject  string
	Status   webhook.DeliveryStatus
	From, To time.Time // From and To limit the creation time: at or after From, and before To. Zero means no limit.
	After    string    // cursor of the previous page; empty for the first page
	Limit    int       // page size, 1 to 100; the default is 50
}

// Page is a page of the delivery list, newest first.
type Page struct {
	Entries []Entry
	// Next is the cursor of the next page, for Query.After, or "" on the last page. The number of rows read for a page
	// is limited, so a page may be short or empty even though more deliveries follow.
	Next string
	// SearchedTo is the time back to which the page's deliveries were searched, if the limit ended the page.
	SearchedTo time.Time
}

// Search returns a tenant's deliveries, newest first. Each page starts where the previous page ended, even if
// deliveries are created in the meantime. A delivery appears shortly after its creation. The error is fault.Invalid,
// fault.Unavailable or internal.
func (l Log) Search(ctx context.Context, tenant org.Tenant, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	if q.Limit == 0 {
		q.Limit = defaultEntries
	}
	if q.ID != "" {
		return l.byID(ctx, tenant, q)
	}
	from := l.Now().Add(-kept)
	if q.From.After(from) {
		from = q.From
	}
	at, err := q.start(l.Now())
	if err != nil {
		return Page{}, err
	}
	next, err := l.list(ctx, tenant, q)
	if err != nil {
		return Page{}, err
	}
	var page Page
	for read := 0; read < mostRead; {
		found, more, err := next(ctx, at, from)
		if err != nil {
			return Page{}, fmt.Errorf("list deliveries: %w", err)
		}
		wanted, err := l.wanted(ctx, tenant, found, q)
		if err != nil {
			return Page{}, err
		}
		room := q.Limit - len(page.Entries)
		if len(wanted) > room || len(wanted) == room && more {
			page.Entries = append(page.Entries, wanted[:room]...)
			page.Next = placeOf(wanted[room-1]).position()
			return page, nil
		}
		page.Entries = append(page.Entries, wanted...)
		if !more {
			return page, nil
		}
		read += len(found)
		at = found[len(found)-1]
	}
	page.Next, page.SearchedTo = at.position(), at.MadeAt
	return page, nil
}

// lister returns the cursors of a list's next deliveries, and reports whether more follow.
type lister func(ctx context.Context, before Place, from time.Time) (found []Place, more bool, err error)

// list returns the shortest list that contains the query's deliveries. That list contains all of the tenant's
// deliveries if the query has no filter, or if some deliveries aren't indexed because release 0.1.0 created them less
// than 15 days ago.
func (l Log) list(ctx context.Context, tenant org.Tenant, q Query) (lister, error) {
	filters := q.filters()
	isIndexed := len(filters) > 0
	if isIndexed {
		var err error
		if isIndexed, err = l.Rows.AreIndexed(ctx, tenant, l.Now().Add(-kept)); err != nil {
			return nil, fmt.Errorf("look for unindexed deliveries: %w", err)
		}
	}
	limit := batch
	if len(filters) == 0 || isIndexed && len(filters) == 1 {
		limit = q.Limit
	}
	return func(ctx context.Context, before Place, from time.Time) ([]Place, bool, error) {
		if isIndexed {
			return l.Rows.DeliveriesWith(ctx, tenant, filters[0], before, from, limit)
		}
		return l.Rows.DeliveriesBefore(ctx, tenant, before, from, limit)
	}, nil
}

// filters returns the properties that the query requires. Properties of few deliveries come first. Most deliveries are
// delivered.
func (q Query) filters() []Property {
	all := []Property{{BySubject, q.Subject}, {ByWebhook, q.SubscriptionID}, {ByType, string(q.Type)}}
	at := 1
	if q.Status == webhook.Delivered {
		at = len(all)
	}
	all = slices.Insert(all, at, Property{ByStatus, string(q.Status)})
	return slices.DeleteFunc(all, func(p Property) bool { return p.Value == "" })
}

func (q Query) check() error {
	if q.Limit < 0 || q.Limit > mostEntries {
		return fault.BadRequest("The limit must be from 1 to 100.").About("limit")
	}
	switch q.Status {
	case "", webhook.Scheduled, webhook.InFlight, webhook.Delivered, webhook.Exhausted, webhook.Held:
		return nil
	}
	return fault.BadRequest("The status must be scheduled, inflight, delivered, exhausted or held.").About("status")
}

// start returns the cursor at which the search begins. The default is one day in the future, because clocks can differ.
func (q Query) start(now time.Time) (Place, error) {
	if q.After != "" {
		at, err := parsePlace(q.After)
		if err != nil || q.To.IsZero() || at.MadeAt.Before(q.To) {
			return at, err
		}
	}
	if !q.To.IsZero() {
		return Place{MadeAt: q.To.Add(time.Microsecond - 1)}, nil // a cursor's time may be less precise than To
	}
	return Place{MadeAt: now.Add(24 * time.Hour)}, nil
}

// wanted reads the deliveries at the given cursors and returns those that match, in order.
func (l Log) wanted(ctx context.Context, tenant org.Tenant, at []Place, q Query) ([]Entry, error) {
	found := make([]string, len(at))
	for i, p := range at {
		found[i] = p.ID
	}
	deliveries, err := l.Rows.Deliveries(ctx, tenant, found)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	// Filtering the rows first reduces the number of events that must be read. Events are larger than delivery rows.
	entries, events, err := l.types(ctx, tenant,
		slices.DeleteFunc(deliveries, func(d webhook.Delivery) bool { return !l.matches(d, q) }))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		return q.Type != "" && e.Type != q.Type || q.Subject != "" &&
			!slices.Contains(events[e.EventID].Subjects(), q.Subject)
	}), nil
}

// matches reports whether a delivery's row, without its event, matches the query.
func (l Log) matches(d webhook.Delivery, q Query) bool {
	return l.isKept(d.CreatedAt) &&
		(q.SubscriptionID == "" || d.SubscriptionID == q.SubscriptionID) &&
		(q.Status == "" || d.Status == q.Status) &&
		!d.CreatedAt.Before(q.From) && (q.To.IsZero() || d.CreatedAt.Before(q.To))
}

// byID returns the delivery with the given ID or, for an event ID, the event's deliveries. The matches always fit on
// one page.
func (l Log) byID(ctx context.Context, tenant org.Tenant, q Query) (Page, error) {
	id, ok := ids.ParseUUID(q.ID)
	if !ok {
		return Page{}, nil
	}
	subscriptions, err := l.Subscriptions.Subscriptions(ctx, tenant)
	if err != nil {
		return Page{}, fmt.Errorf("list subscriptions: %w", err)
	}
	at := []Place{{ID: id}}
	for _, s := range subscriptions {
		at = append(at, Place{ID: webhook.DeliveryID(id, s.ID)})
	}
	entries, err := l.wanted(ctx, tenant, at, q)
	slices.SortFunc(entries, func(a, b Entry) int { return placeOf(b).compare(placeOf(a)) })
	return Page{Entries: entries}, err
}

func placeOf(e Entry) Place { return Place{MadeAt: e.CreatedAt, ID: e.ID} }

func (p Place) compare(other Place) int {
	if order := p.MadeAt.Compare(other.MadeAt); order != 0 {
		return order
	}
	return cmp.Compare(p.ID, other.ID)
}
