// Package getattempt serves GET /bridge/attempts/{attemptId}?public_id=: a widget asks how its
// connect attempt stands, with the token that it got when it made it. It changes nothing. Without the right token, and
// for attempts of others, the answer is that of an attempt that does not exist.
package getattempt

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the declared path.
const Route = "/bridge/attempts/{attemptId}"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Watcher
}

// Watcher tells how attempts stand (flow.Watcher).
type Watcher interface {
	Progress(ctx context.Context, tenant org.Tenant, id string, token secret.Text) (flow.Progress, error)
}

type request struct {
	PublicID      string `query:"public_id"`
	AttemptID     string `path:"attemptId"`
	Authorization string `header:"Authorization"`
}

type response struct {
	AttemptID string            `json:"attempt_id"`
	Status    flow.Status       `json:"status"`
	Result    map[string]string `json:"result,omitempty"` // as a redirect has it (flow.Completed)
	Error     *binding.Failure  `json:"error,omitempty"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Browser(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (response, error) {
	progress, err := d.Flows.Progress(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization))
	if err != nil {
		return response{}, err
	}
	out := response{AttemptID: progress.AttemptID, Status: progress.Status, Error: progress.Failure}
	if len(progress.Result) > 0 {
		out.Result = map[string]string{}
		for name := range progress.Result {
			out.Result[name] = progress.Result.Get(name)
		}
	}
	return out, nil
}
