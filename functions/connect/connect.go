// Package connect serves /bridge/connect. A GET request with an organisation's public ID and an institution's endpoint
// starts an attempt and redirects the browser to the patient portal. If a GET request names no endpoint, the response
// redirects the browser to the institution selection page, which calls /bridge/connect with the selected endpoint. The
// handler displays errors on a page, or sends them to the redirect URI once it has verified the URI. A POST request
// with a start value starts an attempt created by the service's own page. Errors of a POST request are always displayed
// on a page. Every GET request starts a new attempt, but each start value can be used only once.
package connect

import (
	"context"
	"net/http"
	"net/url"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/logx"
)

// Route is the endpoint's path.
const Route = flow.ConnectPath

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.PublicAuth
	Limiter httpapi.Limiter // limits POST requests, which don't identify an organisation
	Flows   Starter
	BaseURL string // service URL, including the version; its pages share its origin
}

// Starter starts attempts; flow.Starter implements it.
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
	ConnectionID  string `query:"reconnect_org_connection_id"` // passed on to the page; every GET starts a new attempt
	Lang          string `query:"lang"`                        // passed on to the page
	PublicID      string `query:"public_id"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	leave := httpapi.Page(d.Limiter, d.leave).Reporting(tally.NotStarted)
	asked := d.API.Serve(Route, httpapi.Methods{
		http.MethodGet:  httpapi.PublicPage(d.Auth, d.get).Reporting(tally.NotStarted),
		http.MethodPost: leave,
	})
	astray := d.API.Serve(Route, httpapi.Methods{
		http.MethodGet:  httpapi.Page(d.Limiter, window.RefuseDirectVisit),
		http.MethodPost: leave,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Start values are accepted only in the body, because URLs appear in logs and browser histories.
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
		if err := asked.CheckLengths(); err != nil { // fail early, before the patient starts searching
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
	return window.Depart(visit, started, httpapi.CookiesAt(d.BaseURL)), nil
}

// page returns the URL of the page where a patient selects an institution. The URL includes all parameters given in the
// request. The URL always includes the redirect URI, even if the request omitted it, because it selects the page's
// redirect mode.
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
