// Package connect serves /bridge/connect. GET with the organisation's public id and an institution's endpoint begins an
// attempt and redirects the browser to the patient portal; without an endpoint it redirects to the page where a patient
// picks one, which comes back. Errors are redirected once the redirect URI is proven, and are a page before that. POST
// with a start value starts an attempt that one of our pages created; its errors are pages. Every GET begins a new
// attempt; a start value works once.
package connect

import (
	"context"
	"net/http"
	"net/url"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/logx"
)

// Route is the declared path.
const Route = flow.ConnectPath

// Deps are what the endpoint works with.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.PublicAuth
	Limiter httpapi.Limiter // of browsers with a start value, who name no organisation
	Flows   Starter
	BaseURL string // of the service, with the version; its origin is that of our pages
}

// Starter begins attempts (flow.Starter).
type Starter interface {
	window.Leaver

	Start(ctx context.Context, r flow.Request) (binding.Started, error)
}

type request struct {
	EndpointID    string `query:"endpoint_id"`
	BrandID       string `query:"brand_id"`
	PortalID      string `query:"portal_id"`
	ExternalID    string `query:"external_id"`
	ExternalState string `query:"external_state"`
	RequestID     string `query:"request_id"`
	ConnectionID  string `query:"reconnect_org_connection_id"` // of the page's; an attempt that is begun here is a new one
	Lang          string `query:"lang"`                        // the page's, too
	PublicID      string `query:"public_id"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	leave := httpapi.Page(d.Limiter, d.leave)
	asked := d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.PublicPage(d.Auth, d.get), http.MethodPost: leave})
	astray := d.API.Serve(Route, httpapi.Methods{
		http.MethodGet:  httpapi.Page(d.Limiter, window.Astray),
		http.MethodPost: leave,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Our own pages post the start value. A start value in the query is refused: addresses reach logs and histories.
		if r.URL.RawQuery == "" || r.URL.Query().Has("attempt") {
			astray.ServeHTTP(w, r)
			return
		}
		asked.ServeHTTP(w, r)
	})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	asked := flow.Request{
		Caller: visit.Caller, Redirect: visit.Redirect, EndpointID: in.EndpointID, BrandID: in.BrandID, PortalID: in.PortalID,
		ExternalID: in.ExternalID, ExternalState: in.ExternalState, RequestID: in.RequestID,
	}
	if in.EndpointID == "" {
		if err := asked.CheckLengths(); err != nil { // now, and not after a patient has searched
			return httpapi.Answer{}, err
		}
		return httpapi.Redirect(d.page(visit, in)), nil
	}
	if asked.RequestID == "" {
		asked.RequestID = logx.RequestID(ctx)
	}
	started, err := d.Flows.Start(ctx, asked)
	if err != nil {
		return httpapi.Answer{}, err
	}
	return window.Depart(visit, started), nil
}

// page is where a patient picks an institution, with all that was given. The redirect URI is named even where the only
// one was left out: it tells the page that it is in redirect mode.
func (d Deps) page(visit httpapi.Visit, in request) string {
	query := url.Values{"public_id": {in.PublicID}, "redirect_uri": {visit.Redirect.URI()}}
	for name, value := range map[string]string{
		"brand_id": in.BrandID, "portal_id": in.PortalID, "external_id": in.ExternalID, "external_state": in.ExternalState,
		"request_id":                  in.RequestID,
		"reconnect_org_connection_id": in.ConnectionID, "lang": in.Lang,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return d.BaseURL + flow.PagePath + "?" + query.Encode()
}

func (d Deps) leave(ctx context.Context, visit httpapi.Visit, in window.Prepared) (httpapi.Answer, error) {
	return window.Leave(ctx, visit, in, d.BaseURL, d.Flows)
}
