// Package identitycallback serves GET /bridge/tefca/identity/callback/{provider}, the redirect URI for identity
// providers. The handler verifies the person's identity for the attempt that the state parameter identifies. The
// handler then starts the network query and displays a result page. A state parameter can be used only once, so
// repeating a request has no effect. A state parameter is valid only in the browser that began the attempt.
package identitycallback

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = identity.CallbackPath + "/{provider}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Flows   Completer
	Cookies httpapi.Cookies
}

// Completer completes attempts; attempt.Completer implements it.
type Completer interface {
	Complete(ctx context.Context, r attempt.Return) (attempt.Completed, error)
}

type request struct {
	Provider string `path:"provider"`

	State string `query:"state"`
	Code  string `query:"code"`
	Iss   string `query:"iss"`
	Error string `query:"error"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Page(d.Limiter, d.get)})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	done, err := d.Flows.Complete(ctx, attempt.Return{
		Provider: in.Provider, State: in.State, Code: secret.New(in.Code), Issuer: in.Iss, Error: in.Error,
		Cookie: d.Cookies.Of(visit), RequestID: logx.RequestID(ctx),
	})
	if !done.Known {
		return httpapi.Answer{}, window.Failed(err, done.Look)
	}
	end := window.Ended{Sheet: "verified", State: in.State, Look: done.Look, Failure: err}
	return window.End(ctx, visit, end, d.Cookies)
}
