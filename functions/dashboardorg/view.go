package dashboardorg

import (
	"math"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/colour"
	"recordbridge/shared/words/org"
)

type organisation struct {
	httpapi.Versioned

	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   string `json:"role"` // signed-in member's role
	Plan   string `json:"plan"`
	Status string `json:"status"`
	Logo   string `json:"logo_uri"`
	Accent string `json:"accent"`
	// contrast ratios (1 to 21) of the accent colour with both backgrounds; omitted if there is no accent colour or the
	// colour scheme excludes that background
	Contrast     float64  `json:"accent_contrast,omitempty"`
	DarkContrast float64  `json:"accent_contrast_dark,omitempty"`
	Radius       *int     `json:"radius,omitempty"`
	Font         string   `json:"font"`
	ColorScheme  string   `json:"color_scheme"`
	PurposeEN    string   `json:"purpose"`
	PurposeES    string   `json:"purpose_es"`
	Privacy      string   `json:"privacy_policy_uri"`
	Terms        string   `json:"terms_uri"`
	Website      string   `json:"website_uri"`
	Emails       []string `json:"emails"`
	Verified     []string `json:"verified_emails"` // verified addresses among Emails; only these receive notices
	Live         string   `json:"live_access"`     // status of the organisation's request for live access
}

func organisationOf(o org.Organisation, role account.Role) organisation {
	shown := organisation{
		Versioned: httpapi.Versioned{Version: o.Version()},
		ID:        o.ID, Name: o.Name, Role: string(role), Plan: string(o.Plan), Status: string(o.Status), Logo: o.LogoURI,
		Accent: o.Accent,
		Radius: o.Look.Radius, Font: o.Look.Font, ColorScheme: o.Look.ColorScheme.String(),
		PurposeEN: o.Purpose.English, PurposeES: o.Purpose.Spanish,
		Privacy: o.PrivacyPolicyURI, Terms: o.TermsURI, Website: o.WebsiteURI,
		Emails:   append([]string{}, o.Emails...),
		Verified: append([]string{}, o.VerifiedEmails...),
		Live:     string(o.LiveAccess),
	}
	light, dark := colour.Sheets()
	if o.Look.ColorScheme != org.Dark {
		shown.Contrast = contrastOn(light, o.Accent)
	}
	if o.Look.ColorScheme != org.Light {
		shown.DarkContrast = contrastOn(dark, o.Accent)
	}
	return shown
}

// contrastOn returns a colour's contrast ratio against a background, to one decimal place, or 0 if text is not a
// colour.
func contrastOn(ground colour.RGB, text string) float64 {
	c, ok := colour.Parse(text)
	if !ok {
		return 0
	}
	return math.Round(10*colour.Contrast(c, ground)) / 10
}
