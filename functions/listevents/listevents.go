// Package listevents serves GET /bridge/events (docs/webhooks.md, Reading events): the organisation's events of the last 15 days
// as the same envelopes that its webhooks get, byte for byte and oldest first, for those who cannot receive or have missed
// some. Called by the organisation's backend with its key; it changes nothing, and no event is taken away by being read.
//
// Only events older than 15 seconds are served. The list is read through an index that shows a new entry some moments
// after its row, each at its own pace; and a row is stored some moments after the time of its fact. So an event can
// appear before one that a reader has had already, and its cursor would pass over it for good. 15 seconds are many times
// what both take together, and who needs an event sooner has the webhook. Events at one same time are told apart by id.
//
// The extensions (patient.connection_failed, patient.authorization_expiring, patient.ehi_export_progress) are served only
// to who names them in ?types=, as webhooks have them only when asked to: a reader that was written for the specification
// never meets one.
package listevents

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Route is the declared path.
const Route = "/bridge/events"

// Deps are what the endpoint works with.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.KeyAuth
	Log     Log
	Links   webhook.LinkSigner
	Cursors Cursors
	Now     func() time.Time
}

// Log lists events behind last, of which only tenant, time and id count, that were created before a time: oldest first by
// (created, id), limit at most, and whether there are more; none only when there are no more (store.EventLog).
type Log interface {
	EventsAfter(ctx context.Context, last webhook.Event, before time.Time, limit int) (events []webhook.Event, more bool, err error)
}

// Cursors seals positions for a tenant and a use; fault.Invalid for what it has not sealed (cursor.Sealer).
type Cursors interface {
	Seal(tenant org.Tenant, use, position string) (string, error)
	Open(tenant org.Tenant, use, text string) (string, error)
}

type request struct {
	After string `query:"after"`
	Limit string `query:"limit"`
	Types string `query:"types"` // separated by commas
}

type response struct {
	Events  []json.RawMessage `json:"events"`
	After   string            `json:"after"`    // always there, so that a reader can go on with it for ever
	HasMore bool              `json:"has_more"` // to be asked for at once, even when this answer has no events
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.list)})
}

func (d Deps) list(ctx context.Context, caller org.Caller, in request) (response, error) {
	wanted, err := parseTypes(in.Types)
	if err != nil {
		return response{}, err
	}
	limit, err := parseLimit(in.Limit)
	if err != nil {
		return response{}, err
	}
	start, err := d.open(caller.Tenant, in.After)
	if err != nil {
		return response{}, err
	}
	p, err := d.page(ctx, start, wanted, limit)
	if err != nil {
		return response{}, err
	}
	out := response{Events: p.events, After: in.After, HasMore: p.more}
	if p.last.ID != start.ID || in.After == "" {
		out.After, err = d.seal(p.last)
	}
	return out, err
}

// use names this list among those that have cursors.
const use = "events"

// seal makes the cursor that stands behind an event, or before all events when it has no id.
func (d Deps) seal(last webhook.Event) (string, error) {
	position := ""
	if last.ID != "" {
		position = last.CreatedAt.UTC().Format(time.RFC3339Nano) + "#" + last.ID
	}
	return d.Cursors.Seal(last.Tenant, use, position)
}

// open is the reverse of seal: of the event, the cursor knows tenant, time and id. Without a cursor the list begins at
// its beginning.
func (d Deps) open(tenant org.Tenant, text string) (webhook.Event, error) {
	beginning := webhook.Event{Tenant: tenant}
	if text == "" {
		return beginning, nil
	}
	refused := fault.BadRequest("after is not a cursor of this list.")
	position, err := d.Cursors.Open(tenant, use, text)
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

const (
	defaultLimit = 100
	maxLimit     = 500
)

func parseLimit(text string) (int, error) {
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, fault.BadRequest("limit must be a whole number from 1 to 500.")
	}
	return limit, nil
}

// parseTypes returns what ?types= asks for: those types and no others, or all but the extensions when it is empty.
func parseTypes(text string) (func(webhook.Type) bool, error) {
	if text == "" {
		specified := make(map[webhook.Type]bool)
		for _, k := range webhook.Catalogue() {
			specified[k.Type] = !k.Extension
		}
		return func(t webhook.Type) bool { return specified[t] }, nil
	}
	var named []webhook.Type
	for name := range strings.SplitSeq(text, ",") {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, fault.BadRequest("types must be event types separated by commas.")
		}
		named = append(named, t)
	}
	return func(t webhook.Type) bool { return slices.Contains(named, t) }, nil
}
