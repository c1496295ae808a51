// Package getorg serves GET /bridge/org?public_id= (docs/openapi.yaml): the organisation's public details, for its
// widget's branding. Browsers call it with the public id alone; it changes nothing.
package getorg

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Route is the endpoint's path.
const Route = "/bridge/org"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API           *httpapi.API
	Auth          httpapi.PublicAuth
	Organisations Organisations
	Own           weburl.Own // its URLs are not shown
}

// Organisations finds the organisation behind a public id.
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

type request struct {
	PublicID string `query:"public_id"`
}

// response is the Organisation of docs/openapi.yaml.
type response struct {
	ID               string     `json:"id"`
	Name             string     `json:"name"`
	LogoURI          string     `json:"logo_uri"`
	PrivacyPolicyURI string     `json:"privacy_policy_uri"`
	WebsiteURI       string     `json:"website_uri"`
	TermsURI         string     `json:"terms_uri"`
	Accent           string     `json:"accent"`
	Plan             org.Plan   `json:"plan"`
	Status           org.Status `json:"status"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Browser(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, _ org.Caller, in request) (response, error) {
	o, err := d.Organisations.Organisation(ctx, in.PublicID)
	if err != nil {
		return response{}, err
	}
	return response{
		ID: o.ID, Name: o.Name, LogoURI: d.Own.Shown(o.LogoURI), PrivacyPolicyURI: d.Own.Shown(o.PrivacyPolicyURI),
		WebsiteURI: d.Own.Shown(o.WebsiteURI), TermsURI: d.Own.Shown(o.TermsURI), Accent: o.Accent, Plan: o.Plan,
		Status: o.Status,
	}, nil
}
