// Package identity serves /bridge/tefca/identity (docs/openapi.yaml), the first step in TEFCA mode. The service's pages
// call these endpoints. GET ?public_id= returns the identity providers, and POST ?public_id= creates an attempt with
// one of them. Both requests fail immediately if the configuration or the organisation's plan doesn't permit an
// attempt. POST /bridge/tefca/identity/start with an attempt's start value redirects the browser to the identity
// provider. Each start value works only once. Every POST to /bridge/tefca/identity creates a new attempt.
package identity

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Route and StartRoute are the endpoints' paths.
const (
	Route      = attempt.Path
	StartRoute = Route + "/start"
)

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.PublicAuth
	Limiter httpapi.Limiter // rate limit for requests with a start value, which don't identify an organisation
	Flows   Creator
	Windows window.Leaver // starts attempts (attempt.Starter)
	BaseURL string        // service URL, including the version
}

// Creator creates attempts; attempt.Creator implements it.
type Creator interface {
	Offer(ctx context.Context, mode org.Mode, publicID string) (attempt.Setting, error)
	Create(ctx context.Context, r attempt.Request) (attempt.Prepared, error)
}

type question struct {
	PublicID string `query:"public_id"`
}

type offer struct {
	Providers []provider `json:"providers"`
	Simulated bool       `json:"simulated"` // true if the provider and all records are simulated
}

type provider struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type request struct {
	PublicID      string `query:"public_id"`
	Provider      string `json:"provider" required:"true"`
	ExternalID    string `json:"external_id"`
	ExternalState string `json:"external_state"`
	RequestID     string `json:"request_id"`
	Language      string `json:"lang"`
}

type response struct {
	AttemptID    string `json:"attempt_id"`
	AttemptToken string `json:"attempt_token"`
	IdentityURL  string `json:"identity_url"`
	StartValue   string `json:"start_value"`
	ExpiresAt    string `json:"expires_at"` // RFC 3339 time
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		Route: {
			http.MethodGet:  httpapi.Browser(d.Auth, d.get),
			http.MethodPost: httpapi.Browser(d.Auth, d.post).Reporting(tally.NotStarted),
		},
		StartRoute: {
			http.MethodPost: httpapi.FormPage(d.Limiter, d.leave, window.Opened()).Reporting(tally.NotStarted),
		},
	})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in question) (offer, error) {
	setting, err := d.Flows.Offer(ctx, caller.Tenant.Mode, in.PublicID)
	if err != nil {
		return offer{}, err
	}
	out := offer{Providers: make([]provider, 0, len(setting.Providers)), Simulated: setting.Simulated}
	for _, p := range setting.Providers {
		out.Providers = append(out.Providers, provider{ID: p.ID, Name: p.Name})
	}
	return out, nil
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	if in.RequestID == "" {
		in.RequestID = logx.RequestID(ctx)
	}
	look, err := window.LookOf(caller, d.Auth.Own, in.Language)
	if err != nil {
		return response{}, err
	}
	prepared, err := d.Flows.Create(ctx, attempt.Request{
		Tenant: caller.Tenant, PublicID: in.PublicID, Provider: in.Provider, ExternalID: in.ExternalID,
		ExternalState: in.ExternalState,
		RequestID:     in.RequestID, Look: look,
	})
	if err != nil {
		return response{}, err
	}
	return response{
		AttemptID: prepared.AttemptID, AttemptToken: prepared.Token.Reveal(),
		IdentityURL: d.BaseURL + StartRoute, StartValue: prepared.Start.Reveal(),
		ExpiresAt: timestamp.Of(prepared.ExpiresAt),
	}, nil
}

func (d Deps) leave(ctx context.Context, visit httpapi.Visit, in window.Prepared) (httpapi.Answer, error) {
	return window.Leave(ctx, visit, in, d.BaseURL, d.Windows)
}
