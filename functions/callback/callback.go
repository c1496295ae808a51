// Package callback serves GET /bridge/callback and /bridge/callback/{registration}, where patient portals return: it
// ends the attempt that the state belongs to and sends the browser on. A state works once, only in the browser that
// began the attempt and only at the address that the portal was given, so a second call changes nothing. Portals that
// answer in the fragment get a page that asks again with a query, once. Where a widget waits for the result, the person
// gets a page that says how it went.
package callback

import (
	"context"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// Route is the declared path.
const Route = flow.CallbackPath

// Deps are what the endpoint works with.
type Deps struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	Flows   Completer
}

// Completer ends attempts (flow.Completer).
type Completer interface {
	Complete(ctx context.Context, r flow.Return) (flow.Completed, error)
}

type request struct {
	Registration string `path:"registration"`

	State string `query:"state"`
	Code  string `query:"code"`
	Iss   string `query:"iss"`
	Error string `query:"error"`
	// Returned is set by the fragment page, so that a return that stays empty ends in an error and not in a loop.
	Returned string `query:"returned"`
}

// mayBeInFragment tells that a portal's answer is not in the query, and that the fragment has not been looked at yet.
func (r request) mayBeInFragment() bool { return r.Code == "" && r.Error == "" && r.Returned == "" }

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Page(d.Limiter, d.get)})
}

func (d Deps) get(ctx context.Context, visit httpapi.Visit, in request) (httpapi.Answer, error) {
	if in.mayBeInFragment() {
		s, err := window.Sheet(visit, "fragment", httpapi.Plain, "fragment")
		return httpapi.Document(s), err
	}
	// of a return whose attempt nobody knows it is all that there is to tell
	if id, ok := ids.ParseUUID(in.Registration); ok {
		logx.Add(ctx, slog.String("registration_id", id))
	}
	done, err := d.Flows.Complete(ctx, flow.Return{
		Registration: in.Registration, State: in.State, Code: secret.New(in.Code), Issuer: in.Iss, Error: in.Error,
		Cookie: visit.Cookie, RequestID: logx.RequestID(ctx),
	})
	if done.InWidget {
		return window.End(ctx, visit, "connected", err, in.State)
	}
	if err != nil {
		echo := httpapi.Echo{ExternalID: done.ExternalID, ExternalState: done.ExternalState}
		return httpapi.RedirectError(ctx, done.Redirect, echo, err, window.EndBinding(in.State)), nil
	}
	return httpapi.Redirect(done.Redirect.With(done.Result), window.EndBinding(in.State)), nil
}
