// Package connect serves GET /bridge/connect (decisions section 3): a browser comes with the organisation's public id
// and an institution's endpoint, and leaves for the patient portal. Errors go back by redirect once the redirect URI
// is proven, before that they are a page. Every call begins a new attempt.
package connect

import (
	"context"
	"net/http"

	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

// Route is the declared path.
const Route = "/bridge/connect"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Starter
}

// Starter begins attempts (flow.Starter).
type Starter interface {
	Start(ctx context.Context, r flow.Request) (flow.Started, error)
}

type request struct {
	PublicID      string `query:"public_id" required:"true"`
	EndpointID    string `query:"endpoint_id"`
	BrandID       string `query:"brand_id"`
	PortalID      string `query:"portal_id"`
	RedirectURI   string `query:"redirect_uri"`
	ExternalID    string `query:"external_id"`
	ExternalState string `query:"external_state"`
	RequestID     string `query:"request_id"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.PublicPage(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	redirect, err := org.MatchRedirect(visit.Caller.RedirectURIs, in.RedirectURI)
	if err != nil {
		return httpapi.Answer{}, err
	}
	if in.RequestID == "" {
		in.RequestID = logx.RequestID(ctx)
	}
	started, err := d.Flows.Start(ctx, flow.Request{
		Caller: visit.Caller, Redirect: redirect, EndpointID: in.EndpointID, BrandID: in.BrandID, PortalID: in.PortalID,
		ExternalID: in.ExternalID, ExternalState: in.ExternalState, RequestID: in.RequestID,
	})
	if err != nil {
		return httpapi.RedirectError(ctx, redirect, in.ExternalState, err), nil
	}
	return httpapi.Redirect(started.URL, &http.Cookie{
		Name: started.CookieName, Value: started.CookieValue.Reveal(), Path: "/", MaxAge: int(started.CookieAge.Seconds()),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}), nil
}
