// Package requesthealthsystem serves POST /support/healthsystem?public_id= (docs/openapi.yaml): a patient asks the
// organisation for a health system that is missing. It becomes the event patient.request_health_system. The same
// request again changes nothing.
package requesthealthsystem

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the declared path.
const Route = "/support/healthsystem"

// Deps are what the endpoint works with.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.PublicAuth
	Inquiries Recorder
}

// Recorder takes inquiries (inquiry.Recorder).
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

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (httpapi.Done, error) {
	from := inquiry.From{
		Tenant: caller.Tenant, Email: in.Email, Token: secret.New(in.EmailToken),
		RequestKey: in.RequestKey,
	}
	return httpapi.Done{}, d.Inquiries.AskHealthSystem(ctx, from, inquiry.HealthSystem{
		Name: in.Name, Website: in.Website, StreetAddress: in.StreetAddress,
	})
}
