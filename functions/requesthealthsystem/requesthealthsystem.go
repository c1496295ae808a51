// Package requesthealthsystem serves POST /support/healthsystem?public_id= (docs/openapi.yaml). Patients use this
// endpoint to ask the organisation to add a missing health system. A request creates the event
// patient.request_health_system. Repeating an identical request has no effect.
package requesthealthsystem

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = "/support/healthsystem"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.PublicAuth
	Inquiries Recorder
}

// Recorder stores inquiries; inquiry.Recorder implements it.
type Recorder interface {
	AskHealthSystem(ctx context.Context, from inquiry.From, h inquiry.HealthSystem) error
}

type request struct {
	Email         string `json:"email" required:"true"`
	Name          string `json:"name"`
	Website       string `json:"website"`
	StreetAddress string `json:"street_address"`
	EmailToken    string `json:"email_token"`
	RequestKey    string `json:"request_key"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (httpapi.NoData, error) {
	from := inquiry.From{
		Tenant: caller.Tenant, Email: in.Email, Token: secret.New(in.EmailToken),
		RequestKey: in.RequestKey,
	}
	return httpapi.NoData{}, d.Inquiries.AskHealthSystem(ctx, from, inquiry.HealthSystem{
		Name: in.Name, Website: in.Website, StreetAddress: in.StreetAddress,
	})
}
