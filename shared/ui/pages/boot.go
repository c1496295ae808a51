package pages

import (
	"encoding/json"
	"fmt"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Boot is a page's initial data, which saves a request before the first paint. The page embeds Boot as
// application/json. Boot contains no secrets.
type Boot struct {
	Shell        Shell     `json:"shell"`
	BaseURL      string    `json:"base_url"` // the API's URL, including the version
	Mode         org.Mode  `json:"api_mode"`
	PublicID     string    `json:"public_id"`
	Organisation *Branding `json:"org"` // nil if the page shows no organisation
	// origins whose pages may embed the frame; if empty, any origin may
	AllowedOrigins []string          `json:"allowed_origins"`
	Error          *Failure          `json:"error"` // reason why the page can't start
	Query          map[string]string `json:"query"` // query parameters of the page's own URL
	// DashboardURL is the dashboard's URL, or empty if the dashboard is served below BaseURL.
	DashboardURL string `json:"dashboard_url,omitempty"`

	Own weburl.Own `json:"-"` // registered origins that belong to the service itself are omitted
}

// Shell is the kind of window or frame in which the application runs.
type Shell string

// Kinds of window or frame in which the application can run.
const (
	Frame  Shell = "frame"  // the widget's frame on a customer's page
	Page   Shell = "page"   // a separate page that redirects to the organisation's redirect URI
	Window Shell = "window" // the older element's window, which returns to the page that opened it
)

// Failure has the fields common to all errors (docs/openapi.yaml, Error).
type Failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	RequestID   string `json:"request_id"`
}

// Branding holds an organisation's details that patients see. Unknown fields are empty.
type Branding struct {
	Name             string `json:"name"`
	LogoURI          string `json:"logo_uri"`
	PrivacyPolicyURI string `json:"privacy_policy_uri"`
	TermsURI         string `json:"terms_uri"`
	WebsiteURI       string `json:"website_uri"`
	Accent           string `json:"accent"` // "#rrggbb"
	PurposeEN        string `json:"purpose"`
	PurposeES        string `json:"purpose_es"`

	Look org.Look `json:"-"` // rendered into the page so that it applies at the first paint
}

// BrandingOf returns an organisation's branding, without URLs that point to this service. If a page of the service
// linked to the service itself, a browser would treat following the link as the patient's own action
// (docs/develop/threats-sign-in.md, "Start values").
func BrandingOf(o org.Organisation, own weburl.Own) *Branding {
	return &Branding{
		Name: o.Name, Accent: o.Accent, Look: o.Look, LogoURI: own.Shown(o.LogoURI),
		PrivacyPolicyURI: own.Shown(o.PrivacyPolicyURI),
		TermsURI:         own.Shown(o.TermsURI), WebsiteURI: own.Shown(o.WebsiteURI),
		PurposeEN: o.Purpose.English, PurposeES: o.Purpose.Spanish,
	}
}

// script returns the boot data as the content of a script element. encoding/json escapes <, > and &, which could close
// the element or start a comment, and U+2028 and U+2029, which older JavaScript engines reject.
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
