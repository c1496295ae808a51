// Package listevents serves GET /bridge/events (docs/guide/events.md). The endpoint returns an organisation's events
// from the last 15 days, read with package eventlog. The endpoint is intended for organisations that can't receive
// webhooks or have missed some. The organisation's backend calls this endpoint with its private key. The endpoint is
// read-only.
package listevents

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/eventlog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/events"

const (
	defaultLimit = 100
	maxLimit     = 500
)

// Deps holds the endpoint's dependencies.
type Deps struct {
	API    *httpapi.API
	Auth   httpapi.KeyAuth
	Events eventlog.Reader
}

type request struct {
	After string `query:"after"`
	Limit string `query:"limit"`
	Types string `query:"types"` // comma-separated
}

type response struct {
	Events  []json.RawMessage `json:"events"`
	After   string            `json:"after"`
	HasMore bool              `json:"has_more"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.list)})
}

func (d Deps) list(ctx context.Context, caller org.Caller, in request) (response, error) {
	types, err := parseTypes(in.Types)
	if err != nil {
		return response{}, err
	}
	limit, err := parseLimit(in.Limit)
	if err != nil {
		return response{}, err
	}
	page, err := d.Events.Read(ctx, caller.Tenant, eventlog.Query{After: in.After, Limit: limit, Types: types})
	return response{Events: page.Events, After: page.After, HasMore: page.More}, err
}

func parseLimit(text string) (int, error) {
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, fault.BadRequest("limit must be an integer from 1 to 500.").About("limit")
	}
	return limit, nil
}

// parseTypes parses the types query parameter. If the parameter is empty, the result is nil.
func parseTypes(text string) ([]webhook.Type, error) {
	if text == "" {
		return nil, nil
	}
	var named []webhook.Type
	for name := range strings.SplitSeq(text, ",") {
		t, ok := webhook.ParseType(name)
		if !ok {
			return nil, fault.BadRequest("types must be a comma-separated list of event types.").About("types")
		}
		named = append(named, t)
	}
	return named, nil
}
