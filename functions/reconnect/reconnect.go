// Package reconnect serves GET /bridge/reconnect. The query identifies an organisation and one of its connections. The
// response redirects the browser to the connection's portal. The handler displays errors on a page or, once it has
// verified the redirect URI, sends them there. Every request starts a new attempt. The connection changes only if the
// same patient signs in.
package reconnect

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/logx"
)

// Route is the endpoint's path.
const Route = "/bridge/reconnect"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Starter

	Cookies httpapi.Cookies
}

// Starter starts attempts; flow.Starter implements it.
type Starter interface {
	Start(ctx context.Context, r flow.Request) (binding.Started, error)
}

type request struct {
	ConnectionID  string `query:"reconnect_org_connection_id" required:"true"`
	ExternalID    string `query:"external_id"`
	ExternalState string `query:"external_state"`
	RequestID     string `query:"request_id"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{
		http.MethodGet: httpapi.PublicPage(d.Auth, d.get).Reporting(tally.NotStarted),
	})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	if in.RequestID == "" {
		in.RequestID = logx.RequestID(ctx)
	}
	started, err := d.Flows.Start(ctx, flow.Request{
		Caller: visit.Caller, Redirect: visit.Redirect, Reconnect: in.ConnectionID,
		ExternalID: in.ExternalID, ExternalState: in.ExternalState, RequestID: in.RequestID,
	})
	if err != nil {
		return httpapi.Answer{}, err
	}
	return window.Depart(visit, started, d.Cookies), nil
}
