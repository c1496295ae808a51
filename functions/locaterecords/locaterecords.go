// Package locaterecords serves GET /bridge/tefca/records/{attemptId}?public_id= (docs/openapi.yaml). The endpoint
// returns the facilities that have the verified person's records, and the status of the chosen facilities. The page
// that created the attempt calls this endpoint with the attempt's token. The endpoint is read-only. If the token is
// wrong or the attempt belongs to another organisation, the response is the same as for a nonexistent attempt.
package locaterecords

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/attempt/view"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = "/bridge/tefca/records/{attemptId}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Watcher
}

// Watcher reports the status of attempts; attempt.Watcher implements it.
type Watcher interface {
	Progress(ctx context.Context, tenant org.Tenant, id string, token secret.Text) (attempt.Progress, error)
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

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (view.Records, error) {
	progress, err := d.Flows.Progress(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization))
	if err != nil {
		return view.Records{}, err
	}
	return view.Of(progress), nil
}
