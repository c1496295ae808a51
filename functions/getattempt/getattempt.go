// Package getattempt serves GET /bridge/attempts/{attemptId}?public_id=, which returns the status of a connect attempt.
// The widget that created the attempt calls this endpoint with the attempt's token. The endpoint is read-only. If the
// token is wrong or the attempt belongs to another organisation, the response is the same as for a nonexistent attempt.
package getattempt

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/flow/view"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = "/bridge/attempts/{attemptId}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Watcher
}

// Watcher reports the status of attempts; flow.Watcher implements it.
type Watcher interface {
	Progress(ctx context.Context, tenant org.Tenant, id string, token secret.Text) (flow.Progress, error)
}

type request struct {
	PublicID      string `query:"public_id"`
	AttemptID     string `path:"attemptId"`
	Authorization string `header:"Authorization"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{
		http.MethodGet: httpapi.Browser(d.Auth, d.get).Polled(), http.MethodDelete: httpapi.Elsewhere(),
	})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (view.Attempt, error) {
	progress, err := d.Flows.Progress(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization))
	if err != nil {
		return view.Attempt{}, err
	}
	return view.Of(progress), nil
}
