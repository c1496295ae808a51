package dashboardorg

import (
	"math"
	"strconv"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

type organisation struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Role   string `json:"role"` // role of the signed-in member
	Plan   string `json:"plan"`
	Status string `json:"status"`
	Logo   string `json:"logo_uri"`
	Accent string `json:"accent"`
	// contrasts with the light and dark backgrounds, from 1 to 21; omitted if there is no accent colour or the colour
	// scheme excludes the background
	Contrast     float64  `json:"accent_contrast,omitempty"`
	DarkContrast float64  `json:"accent_contrast_dark,omitempty"`
	Radius       *int     `json:"radius,omitempty"`
	Font         string   `json:"font"`
	ColorScheme  string   `json:"color_scheme"`
	Privacy      string   `json:"privacy_policy_uri"`
	Terms        string   `json:"terms_uri"`
	Website      string   `json:"website_uri"`
	Emails       []string `json:"emails"`
	Verified     []string `json:"verified_emails"` // addresses in Emails that receive notices
	Live         string   `json:"live_access"`     // stage of the organisation's live access
}

// Backgrounds of patients' pages, as in shared/ui/kit/tokens.css.
const (
	lightSheet = "#ffffff"
	darkSheet  = "#1a2229"
)

func organisationOf(o org.Organisation, role account.Role) organisation {
	shown := organisation{
		ID: o.ID, Name: o.Name, Role: string(role), Plan: string(o.Plan), Status: string(o.Status), Logo: o.LogoURI,
		Accent: o.Accent,
		Radius: o.Look.Radius, Font: o.Look.Font, ColorScheme: o.Look.ColorScheme.String(),
		Privacy: o.PrivacyPolicyURI, Terms: o.TermsURI, Website: o.WebsiteURI,
		Emails:   append([]string{}, o.Emails...),
		Verified: append([]string{}, o.VerifiedEmails...),
		Live:     string(o.LiveAccess),
	}
	if o.Look.ColorScheme != org.Dark {
		shown.Contrast = contrast(o.Accent, lightSheet)
	}
	if o.Look.ColorScheme != org.Light {
		shown.DarkContrast = contrast(o.Accent, darkSheet)
	}
	return shown
}

// contrast returns the contrast ratio of two colours given as "#rrggbb", to one decimal place (WCAG 2.2, contrast
// ratio). It returns 0 if either string is not a colour.
func contrast(one, other string) float64 {
	a, ok := luminance(one)
	b, isColour := luminance(other)
	if !ok || !isColour {
		return 0
	}
	return math.Round(10*(max(a, b)+0.05)/(min(a, b)+0.05)) / 10
}

// luminance returns a colour's relative luminance, from 0 to 1.
func luminance(colour string) (of float64, ok bool) {
	if len(colour) != 7 {
		return 0, false
	}
	value, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		return 0, false
	}
	linear := func(part uint64) float64 {
		c := float64(part&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(value>>16) + 0.7152*linear(value>>8) + 0.0722*linear(value), true
}
