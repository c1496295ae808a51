// Package callback serves GET /bridge/callback and /bridge/callback/{registration}, the redirect URIs registered with
// patient portals. The handler completes the attempt identified by the state parameter and redirects the browser. A
// state parameter can be used only once, so repeating a request has no effect. A state parameter is valid only in the
// browser that began the attempt, and only at the redirect URI sent to the portal. If a portal returns its parameters
// in the URL fragment, the handler serves a page that resends them once in the query. If a widget is waiting for the
// result, the handler displays a result page instead of redirecting.
package callback

import (
	"context"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = flow.CallbackPath

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Flows   Completer
	Cookies httpapi.Cookies
}

// Completer completes attempts; flow.Completer implements it.
type Completer interface {
	Complete(ctx context.Context, r flow.Return) (flow.Completed, error)
}

type request struct {
	Registration string `path:"registration"`

	State string `query:"state"`
	Code  string `query:"code"`
	Iss   string `query:"iss"`
	Error string `query:"error"`
	// Returned is set by the page that resends the URL fragment as a query. Without it, a callback that has no
	// parameters would cause a redirect loop.
	Returned string `query:"returned"`
}

// mayBeInFragment reports whether the portal's response is missing from the query and may be in the URL fragment, which
// has not been checked yet.
func (r request) mayBeInFragment() bool { return r.Code == "" && r.Error == "" && r.Returned == "" }

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Page(d.Limiter, d.get)})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	if in.mayBeInFragment() {
		s, err := window.Sheet(visit, binding.Look{}, "fragment", httpapi.Plain, "fragment")
		return httpapi.Document(s), err
	}
	// If the callback's attempt is unknown, only the registration can be logged.
	if id, ok := ids.ParseUUID(in.Registration); ok {
		logx.Add(ctx, slog.String("registration_id", id))
	}
	done, err := d.Flows.Complete(ctx, flow.Return{
		Registration: in.Registration, State: in.State, Code: secret.New(in.Code), Issuer: in.Iss, Error: in.Error,
		Cookie: d.Cookies.Of(visit), RequestID: logx.RequestID(ctx),
	})
	if done.InWidget {
		end := window.Ended{Sheet: "connected", State: in.State, Look: done.Look, Failure: err}
		return window.End(ctx, visit, end, d.Cookies)
	}
	if err != nil {
		echo := httpapi.Echo{ExternalID: done.ExternalID, ExternalState: done.ExternalState}
		return httpapi.RedirectError(ctx, done.Redirect, echo, err, window.EndBinding(in.State, d.Cookies)), nil
	}
	return httpapi.Redirect(done.Redirect.With(done.Result), window.EndBinding(in.State, d.Cookies)), nil
}
