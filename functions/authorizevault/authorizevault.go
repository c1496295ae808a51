// Package authorizevault serves POST /bridge/tefca/records/{attemptId}/authorization?public_id= (docs/openapi.yaml): a
// page of ours tells which facilities the person has chosen to connect, with the token of the attempt, and is answered
// as by GET /bridge/tefca/records/{attemptId}. Facilities that are being connected, or are connected, stay as they
// are, so that it may be repeated. Without the right token, and for attempts of others, the answer is that of an
// attempt that does not exist.
package authorizevault

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
const Route = "/bridge/tefca/records/{attemptId}/authorization"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Chooser
}

// Chooser has facilities connected (attempt.Chooser).
type Chooser interface {
	Choose(ctx context.Context, tenant org.Tenant, id string, token secret.Text, wanted []string) (attempt.Progress, error)
}

type request struct {
	PublicID      string   `query:"public_id"`
	AttemptID     string   `path:"attemptId"`
	Authorization string   `header:"Authorization"`
	DirectoryIDs  []string `json:"tefca_directory_ids" required:"true"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (view.Records, error) {
	progress, err := d.Flows.Choose(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization), in.DirectoryIDs)
	if err != nil {
		return view.Records{}, err
	}
	return view.Of(progress), nil
}
