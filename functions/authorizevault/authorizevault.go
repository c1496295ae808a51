// Package authorizevault serves POST /bridge/tefca/records/{attemptId}/authorization?public_id= (docs/openapi.yaml).
// The service's page calls this endpoint with the attempt's token to connect the facilities that the patient has
// chosen. The response has the same form as that of GET /bridge/tefca/records/{attemptId}. The request is idempotent:
// it does not change facilities that are already connected or being connected. If the token is wrong or the attempt
// belongs to another organisation, the response is the same as for a nonexistent attempt.
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

// Route is the endpoint's path.
const Route = "/bridge/tefca/records/{attemptId}/authorization"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Chooser
}

// Chooser connects the facilities that a patient has chosen; attempt.Chooser implements it.
type Chooser interface {
	Choose(ctx context.Context, tenant org.Tenant, id string, token secret.Text, wanted []string) (attempt.Progress, error)
}

type request struct {
	PublicID      string   `query:"public_id"`
	AttemptID     string   `path:"attemptId"`
	Authorization string   `header:"Authorization"`
	DirectoryIDs  []string `json:"tefca_directory_ids" required:"true"`
}

// New returns the endpoint's handler.
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
