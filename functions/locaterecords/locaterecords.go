// Package locaterecords serves GET /bridge/tefca/records/{attemptId}?public_id= (docs/openapi.yaml): a page of ours
// asks which facilities have records of the person whose identity was verified, and what has become of those that were
// chosen, with the token that it got when it made the attempt. It changes nothing. Without the right token, and for
// attempts of others, the answer is that of an attempt that does not exist.
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

// Route is the declared path.
const Route = "/bridge/tefca/records/{attemptId}"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Watcher
}

// Watcher tells how attempts stand (attempt.Watcher).
type Watcher interface {
	Progress(ctx context.Context, tenant org.Tenant, id string, token secret.Text) (attempt.Progress, error)
}

type request struct {
	PublicID      string `query:"public_id"`
	AttemptID     string `path:"attemptId"`
	Authorization string `header:"Authorization"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Browser(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (view.Records, error) {
	progress, err := d.Flows.Progress(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization))
	if err != nil {
		return view.Records{}, err
	}
	return view.Of(progress), nil
}
