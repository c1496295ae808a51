// Package eventlog owns how an organisation reads its events (docs/guide/webhooks.md, "Reading events"): those of the last 15
// days, oldest first, each as the envelope that its webhooks get, byte for byte. No event is taken away by being read.
//
// Only events older than 15 seconds are served. The list is read through an index that shows a new entry some
// moments after its row, each at its own pace; and a row is stored some moments after the time of its fact. So an
// event can appear before one that a reader has had already, and its cursor would pass over it for good. 15
// seconds are many times what both take together, and who needs an event sooner has the webhook. Events at one
// same time are told apart by id.
//
// The extensions (patient.connection_failed, patient.authorization_expiring, patient.ehi_export_progress) are
// served only to who names them, as webhooks have them only when asked to: a reader that was written for the
// specification never meets one.
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

// Reader reads a tenant's events. It is safe for concurrent use.
type Reader struct {
	Log     Log
	Links   webhook.LinkSigner
	Cursors Cursors
	Now     func() time.Time
}

// Log lists events behind last, of which only tenant, time and id count, that were created before a time: oldest first
// by (created, id), limit at most, and whether there are more; none only when there are no more (store.EventLog).
type Log interface {
	EventsAfter(ctx context.Context, last webhook.Event, before time.Time, limit int) (events []webhook.Event,
		more bool, err error)
}

// Cursors seals positions for a tenant and a use; fault.Invalid for what it has not sealed (cursor.Sealer).
type Cursors interface {
	Seal(tenant org.Tenant, use, position string) (string, error)
	Open(tenant org.Tenant, use, text string) (string, error)
}

// Query is what is asked for.
type Query struct {
	After string         // the cursor of the page before; empty for the beginning of the list
	Limit int            // of events, at least one
	Types []webhook.Type // these and no others; none: all but the extensions
}

// Page is a part of the list.
type Page struct {
	Events []json.RawMessage // not nil
	After  string            // never empty, so that a reader can go on with it for ever
	More   bool              // to be asked for at once, even when this page has no events
}

// Read returns the page behind a cursor. fault.Invalid for one that is not of this list, tenant and mode.
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

// types are those of the events that are asked for.
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

// use names this list among those that have cursors.
const use = "events"

// seal makes the cursor that stands behind an event, or before all events when it has no id.
func (r Reader) seal(last webhook.Event) (string, error) {
	position := ""
	if last.ID != "" {
		position = last.CreatedAt.UTC().Format(time.RFC3339Nano) + "#" + last.ID
	}
	return r.Cursors.Seal(last.Tenant, use, position)
}

// open is the reverse of seal: of the event, the cursor knows tenant, time and id. Without a cursor the list begins at
// its beginning.
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
