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
	// contrast with white, from 1 to 21; omitted if there is no accent colour
	Contrast float64  `json:"accent_contrast,omitempty"`
	Privacy  string   `json:"privacy_policy_uri"`
	Terms    string   `json:"terms_uri"`
	Website  string   `json:"website_uri"`
	Emails   []string `json:"emails"`
	Verified []string `json:"verified_emails"` // those addresses in Emails that receive notices
	Live     string   `json:"live_access"`     // stage of the organisation's live access
}

func organisationOf(o org.Organisation, role account.Role) organisation {
	return organisation{
		ID: o.ID, Name: o.Name, Role: string(role), Plan: string(o.Plan), Status: string(o.Status), Logo: o.LogoURI,
		Accent:   o.Accent,
		Contrast: contrast(o.Accent), Privacy: o.PrivacyPolicyURI, Terms: o.TermsURI, Website: o.WebsiteURI,
		Emails:   append([]string{}, o.Emails...),
		Verified: append([]string{}, o.VerifiedEmails...),
		Live:     string(o.LiveAccess),
	}
}

// contrast returns the contrast ratio between white and a colour given as "#rrggbb", to one decimal place (WCAG 2.2,
// contrast ratio). It returns 0 if colour is empty.
func contrast(colour string) float64 {
	if len(colour) != 7 {
		return 0
	}
	value, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		return 0
	}
	linear := func(part uint64) float64 {
		c := float64(part&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	luminance := 0.2126*linear(value>>16) + 0.7152*linear(value>>8) + 0.0722*linear(value)
	return math.Round(10*1.05/(luminance+0.05)) / 10
}
