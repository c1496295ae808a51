// Package eventlog lets an organisation read its events (docs/guide/events.md). The events of the last 15 days
// are returned, oldest first. Each event is the envelope that the organisation's webhooks receive, byte for byte.
// Reading an event does not remove it.
//
// Only events older than 15 seconds are served. Rows are stored shortly after their events' times and appear in the
// list's index after a further delay. An event may therefore appear with an earlier time than one that a reader has
// already received. The reader's cursor would then skip that event permanently. The two delays add up to far less than
// 15 seconds. Organisations that need events sooner can use a webhook. Events with equal times are ordered by ID.
//
// The extensions (patient.connection_failed, patient.authorization_expiring, patient.ehi_export_progress) are returned
// only for requests that name them. Webhooks receive extension events only after opting in. A reader that implements
// only the specification therefore never receives an extension event.
package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Reader reads a tenant's events. A Reader is safe for concurrent use.
type Reader struct {
	Log     Log
	Links   webhook.LinkSigner
	Cursors Cursors
	Now     func() time.Time
}

// Log returns at most limit events after last that were created before a given time. The events are ordered by creation
// time and ID, oldest first. Log also reports whether more matching events exist. Only the tenant, time and ID of last
// are compared. Log returns an empty list only if no more events exist. store.EventLog implements the interface.
type Log interface {
	EventsAfter(ctx context.Context, last webhook.Event, before time.Time, limit int) (events []webhook.Event,
		more bool, err error)
}

// Cursors seals cursors for a tenant and a use. Cursors returns fault.Invalid for a cursor that it did not seal.
// cursor.Sealer implements the interface.
type Cursors interface {
	Seal(tenant org.Tenant, use, position string) (string, error)
	Open(tenant org.Tenant, use, text string) (string, error)
}

// Query selects a page of events.
type Query struct {
	After string         // cursor of the previous page; empty for the start of the list
	Limit int            // maximum number of events, at least one
	Types []webhook.Type // requested types; if empty, all types except the extensions
}

// Page is a page of the event list.
type Page struct {
	Events []json.RawMessage // never nil
	After  string            // cursor, which is never empty, so that a reader can always continue
	More   bool              // whether more events follow; may be true for an empty page
}

// Read returns the page that follows a cursor. It returns fault.Invalid for a cursor from another list, tenant or mode.
func (r Reader) Read(ctx context.Context, tenant org.Tenant, q Query) (Page, error) {
	start, err := r.open(tenant, q.After)
	if err != nil {
		return Page{}, err
	}
	c, err := r.collect(ctx, start, q)
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: c.events, After: q.After, More: c.more}
	if c.last.ID != start.ID || q.After == "" {
		page.After, err = r.seal(c.last)
	}
	return page, err
}

// types returns the event types that the query requests.
func (q Query) types() []webhook.Type {
	if len(q.Types) > 0 {
		return q.Types
	}
	var specified []webhook.Type
	for _, k := range webhook.Catalogue() {
		if !k.Extension {
			specified = append(specified, k.Type)
		}
	}
	return specified
}

// use distinguishes the event list's cursors from other lists' cursors.
const use = "events"

// seal returns the cursor of the position after an event. If last has no ID, the cursor points to the start of the
// list.
func (r Reader) seal(last webhook.Event) (string, error) {
	position := ""
	if last.ID != "" {
		position = last.CreatedAt.UTC().Format(time.RFC3339Nano) + "#" + last.ID
	}
	return r.Cursors.Seal(last.Tenant, use, position)
}

// open decodes a cursor returned by seal. The resulting event contains only a tenant, a time and an ID. An empty cursor
// represents the start of the list.
func (r Reader) open(tenant org.Tenant, text string) (webhook.Event, error) {
	beginning := webhook.Event{Tenant: tenant}
	if text == "" {
		return beginning, nil
	}
	refused := fault.BadRequest("after is not a valid cursor for this list.").About("after")
	position, err := r.Cursors.Open(tenant, use, text)
	switch {
	case errors.Is(err, fault.Invalid):
		return webhook.Event{}, refused
	case err != nil || position == "":
		return beginning, err
	}
	created, id, _ := strings.Cut(position, "#")
	at, err := time.Parse(time.RFC3339Nano, created)
	if err != nil || id == "" {
		return webhook.Event{}, refused
	}
	return webhook.Event{Tenant: tenant, ID: id, CreatedAt: at}, nil
}
