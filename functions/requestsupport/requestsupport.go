// Package requestsupport serves POST /support/request?public_id= (docs/openapi.yaml). Patients use this endpoint to ask
// the organisation for help with connecting. A request creates a patient.request_support event. Repeating an identical
// request has no effect.
package requestsupport

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Route is the endpoint's path.
const Route = "/support/request"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.PublicAuth
	Inquiries Recorder
}

// Recorder stores inquiries; inquiry.Recorder implements it.
type Recorder interface {
	AskSupport(ctx context.Context, from inquiry.From, s inquiry.Support) error
}

type request struct {
	Email        string `json:"email" required:"true"`
	Name         string `json:"name"`
	Subject      string `json:"subject"`
	Body         string `json:"body"`
	HealthSystem string `json:"health_system"`
	EmailToken   string `json:"email_token"`
	RequestKey   string `json:"request_key"`
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
	return httpapi.NoData{}, d.Inquiries.AskSupport(ctx, from, inquiry.Support{
		Name: in.Name, Subject: in.Subject, Body: in.Body, HealthSystem: in.HealthSystem,
	})
}
