package pages

import (
	"encoding/json"
	"fmt"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Boot holds the initial data of a page, so that its first paint needs no second request. It is embedded in the page as
// application/json and is not secret.
type Boot struct {
	Shell          Shell             `json:"shell"`
	BaseURL        string            `json:"base_url"` // of the API, including the version
	Mode           org.Mode          `json:"api_mode"`
	PublicID       string            `json:"public_id"`
	Organisation   *Branding         `json:"org"`             // nil if there is none or it may not be shown
	AllowedOrigins []string          `json:"allowed_origins"` // origins whose pages may embed a frame; none: any
	Error          *Failure          `json:"error"`           // why the page cannot start
	Query          map[string]string `json:"query"`           // the page's own query parameters
	// URL of the dashboard, if it is not below BaseURL
	DashboardURL string `json:"dashboard_url,omitempty"`

	Own weburl.Own `json:"-"` // registered origins that lead here are omitted
}

// Shell is the container of the application.
type Shell string

// The shells.
const (
	Frame  Shell = "frame"  // the widget's frame on a customer's page
	Page   Shell = "page"   // a separate page that ends at the organisation's redirect URI
	Window Shell = "window" // the older element's window, which ends where it was opened
)

// Failure has the fields of every error (docs/openapi.yaml, Error).
type Failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	RequestID   string `json:"request_id"`
}

// Branding holds an organisation's details that patients see. Empty fields are unknown.
type Branding struct {
	Name             string `json:"name"`
	LogoURI          string `json:"logo_uri"`
	PrivacyPolicyURI string `json:"privacy_policy_uri"`
	TermsURI         string `json:"terms_uri"`
	WebsiteURI       string `json:"website_uri"`
	Accent           string `json:"accent"` // "#rrggbb"
}

// BrandingOf returns an organisation's branding for patients. URLs of this service are omitted, because a browser would
// treat a link to them on the service's page as the patient's own step (docs/develop/threat-model.md, "Start values").
func BrandingOf(o org.Organisation, own weburl.Own) *Branding {
	return &Branding{
		Name: o.Name, Accent: o.Accent, LogoURI: own.Shown(o.LogoURI), PrivacyPolicyURI: own.Shown(o.PrivacyPolicyURI),
		TermsURI: own.Shown(o.TermsURI), WebsiteURI: own.Shown(o.WebsiteURI),
	}
}

// script returns the boot data as the text of a script element. encoding/json escapes everything that could end the
// element or begin a comment in it (<, >, &), and the two line terminators that JSON allows but older scripts did not
// (U+2028, U+2029).
func (b Boot) script() (string, error) {
	if b.AllowedOrigins == nil {
		b.AllowedOrigins = []string{}
	}
	if b.Query == nil {
		b.Query = map[string]string{}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("write a page's boot: %w", err)
	}
	return string(text), nil
}
