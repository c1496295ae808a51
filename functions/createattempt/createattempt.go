// Package createattempt serves POST /bridge/attempts?public_id=. A widget calls this endpoint before it opens a window,
// so that configuration errors become visible immediately. The response contains a start value and the token for
// polling the attempt. The service's own page posts the start value once to the connect URL. A widget can also generate
// the ID and token itself and send the ID and the token's hash. Every request creates a new attempt, unless the request
// repeats the ID and hash of an attempt that has not started yet.
package createattempt

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Route is the endpoint's path.
const Route = "/bridge/attempts"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.PublicAuth
	Flows   Creator
	BaseURL string // service URL, including the version
}

// Creator creates attempts; flow.Creator implements it.
type Creator interface {
	Create(ctx context.Context, r flow.Request) (flow.Prepared, error)
}

type request struct {
	PublicID      string `query:"public_id"`
	EndpointID    string `json:"endpoint_id"`
	BrandID       string `json:"brand_id"`
	PortalID      string `json:"portal_id"`
	ConnectionID  string `json:"reconnect_org_connection_id"`
	ExternalID    string `json:"external_id"`
	ExternalState string `json:"external_state"`
	RequestID     string `json:"request_id"`
	AttemptID     string `json:"attempt_id"`
	TokenHash     string `json:"token_hash"`
	Language      string `json:"lang"`
}

type response struct {
	AttemptID    string `json:"attempt_id"`
	AttemptToken string `json:"attempt_token,omitempty"`
	ConnectURL   string `json:"connect_url"`
	StartValue   string `json:"start_value"`
	ExpiresAt    string `json:"expires_at"` // RFC 3339 time
	EndpointID   string `json:"endpoint_id"`
	PortalID     string `json:"portal_id"`
	BrandID      string `json:"brand_id"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{
		http.MethodPost: httpapi.Browser(d.Auth, d.post).Reporting(tally.NotStarted),
	})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	if in.RequestID == "" {
		in.RequestID = logx.RequestID(ctx)
	}
	look, err := window.LookOf(caller, d.Auth.Own, in.Language)
	if err != nil {
		return response{}, err
	}
	prepared, err := d.Flows.Create(ctx, flow.Request{
		Caller: caller, Reconnect: in.ConnectionID, EndpointID: in.EndpointID, BrandID: in.BrandID, PortalID: in.PortalID,
		ExternalID: in.ExternalID, ExternalState: in.ExternalState, RequestID: in.RequestID,
		AttemptID: in.AttemptID, TokenHash: in.TokenHash, Look: look,
	})
	if err != nil {
		return response{}, err
	}
	return response{
		AttemptID: prepared.AttemptID, AttemptToken: prepared.Token.Reveal(),
		ConnectURL: d.BaseURL + flow.ConnectPath, StartValue: prepared.Start.Reveal(),
		ExpiresAt:  timestamp.Of(prepared.ExpiresAt),
		EndpointID: prepared.EndpointID, PortalID: prepared.PortalID, BrandID: prepared.BrandID,
	}, nil
}
