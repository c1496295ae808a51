// Package cancelattempt serves DELETE /bridge/attempts/{attemptId}?public_id= and DELETE
// /bridge/tefca/records/{attemptId}?public_id=. Both endpoints end an attempt that the patient no longer wants to
// complete. The page that created the attempt calls the endpoint with the attempt's token. Each endpoint's response has
// the same form as the response to a GET request for its path. The request is idempotent and does not change an attempt
// that has already ended. If the token is wrong or the attempt belongs to another organisation, the response is the
// same as for a nonexistent attempt.
package cancelattempt

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/flow"
	flowview "recordbridge/shared/connect/flow/view"
	"recordbridge/shared/tefca/attempt"
	tefcaview "recordbridge/shared/tefca/attempt/view"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route and TEFCARoute are the endpoints' paths.
const (
	Route      = "/bridge/attempts/{attemptId}"
	TEFCARoute = "/bridge/tefca/records/{attemptId}"
)

// Deps holds the endpoints' dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.PublicAuth
	Flows Canceler
	TEFCA TEFCACanceler
}

// Canceler cancels connect attempts; flow.Canceler implements it.
type Canceler interface {
	Cancel(ctx context.Context, tenant org.Tenant, id string, token secret.Text, requestID string) (flow.Progress, error)
}

// TEFCACanceler cancels attempts in TEFCA mode; attempt.Canceler implements it.
type TEFCACanceler interface {
	Cancel(ctx context.Context, tenant org.Tenant, id string, token secret.Text, requestID string,
	) (attempt.Progress, error)
}

type request struct {
	PublicID      string `query:"public_id"`
	AttemptID     string `path:"attemptId"`
	Authorization string `header:"Authorization"`
}

// New returns the endpoints' handler.
func New(d Deps) http.Handler {
	return d.API.Routes(map[string]httpapi.Methods{
		Route:      {http.MethodDelete: httpapi.Browser(d.Auth, d.cancel)},
		TEFCARoute: {http.MethodDelete: httpapi.Browser(d.Auth, d.cancelTEFCA)},
	})
}

func (d Deps) cancel(ctx context.Context, caller org.Caller, in request) (flowview.Attempt, error) {
	progress, err := d.Flows.Cancel(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization),
		logx.RequestID(ctx))
	if err != nil {
		return flowview.Attempt{}, err
	}
	return flowview.Of(progress), nil
}

func (d Deps) cancelTEFCA(ctx context.Context, caller org.Caller, in request) (tefcaview.Records, error) {
	progress, err := d.TEFCA.Cancel(ctx, caller.Tenant, in.AttemptID, httpapi.Bearer(in.Authorization),
		logx.RequestID(ctx))
	if err != nil {
		return tefcaview.Records{}, err
	}
	return tefcaview.Of(progress), nil
}
