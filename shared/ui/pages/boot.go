package pages

import (
	"encoding/json"
	"fmt"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Boot is what a page knows from its first moment on, so that its first paint needs no second request. It stands in the
// page as application/json and is no secret.
type Boot struct {
	Shell          Shell             `json:"shell"`
	BaseURL        string            `json:"base_url"` // of the API, with the version
	Mode           org.Mode          `json:"api_mode"`
	PublicID       string            `json:"public_id"`
	Organisation   *Branding         `json:"org"`             // nil where there is none, or none that may be told
	AllowedOrigins []string          `json:"allowed_origins"` // whose pages may hold a frame; none: any
	Error          *Failure          `json:"error"`           // why the page cannot begin
	Query          map[string]string `json:"query"`           // the page's own parameters that were given
	// where the dashboard's one address is, if not below BaseURL
	DashboardURL string `json:"dashboard_url,omitempty"`

	Own weburl.Own `json:"-"` // which registered origins are left out
}

// Shell is what holds the application.
type Shell string

// The shells.
const (
	Frame  Shell = "frame"  // the widget's, on a customer's page
	Page   Shell = "page"   // a page of its own, which ends at the organisation's redirect URI
	Window Shell = "window" // the older element's, which ends where it was opened
)

// Failure has the fields of every error (docs/openapi.yaml, Error).
type Failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	RequestID   string `json:"request_id"`
}

// Branding is what a patient sees of an organisation. What is empty is not known.
type Branding struct {
	Name             string `json:"name"`
	LogoURI          string `json:"logo_uri"`
	PrivacyPolicyURI string `json:"privacy_policy_uri"`
	TermsURI         string `json:"terms_uri"`
	WebsiteURI       string `json:"website_uri"`
	Accent           string `json:"accent"` // "#rrggbb"
}

// BrandingOf returns an organisation's branding for patients. URLs of this service are omitted: a browser would take
// a link to them on our page for the patient's own step (docs/develop/threat-model.md, "Start values").
func BrandingOf(o org.Organisation, own weburl.Own) *Branding {
	return &Branding{
		Name: o.Name, Accent: o.Accent, LogoURI: own.Shown(o.LogoURI), PrivacyPolicyURI: own.Shown(o.PrivacyPolicyURI),
		TermsURI: own.Shown(o.TermsURI), WebsiteURI: own.Shown(o.WebsiteURI),
	}
}

// script writes the boot as the text of a script element. encoding/json escapes what could end the element or begin a
// comment in it (<, >, &) and the two line ends that JSON has and scripts did not (U+2028, U+2029).
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
