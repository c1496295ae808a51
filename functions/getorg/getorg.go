// Package getorg serves GET /bridge/org?public_id= (docs/openapi.yaml), which returns an organisation's public details
// for the widget's branding. Browsers call this endpoint with only the public ID. The endpoint is read-only.
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
	Own           weburl.Own // the service's own URLs, omitted from responses
}

// Organisations looks up organisations by public ID.
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

type request struct {
	PublicID string `query:"public_id"`
}

// response is the schema Organisation in docs/openapi.yaml.
type response struct {
	ID               string     `json:"id"`
	Name             string     `json:"name"`
	LogoURI          string     `json:"logo_uri"`
	PrivacyPolicyURI string     `json:"privacy_policy_uri"`
	WebsiteURI       string     `json:"website_uri"`
	TermsURI         string     `json:"terms_uri"`
	Accent           string     `json:"accent"`
	Radius           *int       `json:"radius,omitempty"`
	Font             string     `json:"font"`
	ColorScheme      string     `json:"color_scheme"`
	PurposeEN        string     `json:"purpose"`
	PurposeES        string     `json:"purpose_es"`
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
		WebsiteURI: d.Own.Shown(o.WebsiteURI), TermsURI: d.Own.Shown(o.TermsURI), Accent: o.Accent,
		Radius: o.Look.Radius, Font: o.Look.Font, ColorScheme: o.Look.ColorScheme.String(),
		PurposeEN: o.Purpose.English, PurposeES: o.Purpose.Spanish,
		Plan: o.Plan, Status: o.Status,
	}, nil
}
