package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

// diff collects the changes between two revisions of an object, for its audit row.
type diff []audit.Change

// text adds a change if a setting's values differ.
func (d *diff) text(field, was, is string) {
	if was != is {
		*d = append(*d, audit.Change{Field: field, New: is, Old: was})
	}
}

// list adds a change for each removed and each added item of a list.
func (d *diff) list(field string, was, is []string) {
	for _, item := range was {
		if !slices.Contains(is, item) {
			d.text(field, item, "")
		}
	}
	for _, item := range is {
		if !slices.Contains(was, item) {
			d.text(field, "", item)
		}
	}
}

// secret adds a change without the values if a setting's values differ.
func (d *diff) secret(field, was, is string) {
	if was != is {
		*d = append(*d, audit.Change{Field: field, New: hidden(is), Old: hidden(was)})
	}
}

// hidden returns audit.Hidden instead of a value, or "" if there is no value.
func hidden(value string) string {
	if value == "" {
		return ""
	}
	return audit.Hidden
}

// webhookChanges returns the changes between two revisions of a webhook. The zero Subscription denotes a webhook that
// does not exist. The changes contain neither the URL's query string nor the values of headers.
func webhookChanges(was, is webhook.Subscription) []audit.Change {
	var d diff
	d.text("url", notice.ShownURL(was.URL), notice.ShownURL(is.URL))
	_, query, _ := strings.Cut(was.URL, "?")
	_, newQuery, _ := strings.Cut(is.URL, "?")
	d.secret("url_query", query, newQuery)
	d.list("types", optionalTypes(was), optionalTypes(is))
	d.text("rate", number(was.Rate), number(is.Rate))
	d.text("note", was.Note, is.Note)
	d.list("headers", was.HeaderNames, is.HeaderNames)
	if was.PublicKey != "" && is.PublicKey != "" && was.PublicKey != is.PublicKey {
		d.text("signing_key", "on", "replaced")
	} else {
		d.text("signing_key", onOff(was.PublicKey != ""), onOff(is.PublicKey != ""))
	}
	return d
}

// statusChange returns the change of a webhook that is disabled or enabled.
func statusChange(isDisabled bool) audit.Change {
	if isDisabled {
		return audit.Change{Field: "status", New: "disabled", Old: "enabled"}
	}
	return audit.Change{Field: "status", New: "enabled", Old: "disabled"}
}

// optionalTypes returns the event types of a webhook, except the types that every webhook receives.
func optionalTypes(sub webhook.Subscription) []string {
	required := webhook.Subscription{}.WithTypes(nil).Types
	var names []string
	for _, t := range sub.Types {
		if !slices.Contains(required, t) {
			names = append(names, string(t))
		}
	}
	return names
}

// credentialChanges returns the changes between two revisions of a credential, except those of its keys. The zero
// Credential denotes a credential that does not exist.
func credentialChanges(was, is org.Credential) []audit.Change {
	var d diff
	d.text("note", was.Note, is.Note)
	d.list("redirect_uris", was.RedirectURIs, is.RedirectURIs)
	d.list("allowed_origins", was.AllowedOrigins, is.AllowedOrigins)
	return d
}

// organisationChanges returns the changes between two revisions of an organisation. The zero Organisation denotes an
// organisation that does not exist. Email addresses are only counted, and texts written for operators are omitted.
func organisationChanges(was, is org.Organisation) []audit.Change {
	var d diff
	d.text("name", was.Name, is.Name)
	d.text("plan", string(was.Plan), string(is.Plan))
	d.text("status", string(was.Status), string(is.Status))
	d.text("live_access", string(was.LiveAccess), string(is.LiveAccess))
	d.text("website_uri", was.WebsiteURI, is.WebsiteURI)
	d.text("privacy_policy_uri", was.PrivacyPolicyURI, is.PrivacyPolicyURI)
	d.text("terms_uri", was.TermsURI, is.TermsURI)
	d.text("logo", fingerprint(was.LogoURI), fingerprint(is.LogoURI))
	d.text("accent", was.Accent, is.Accent)
	d.text("radius", pixels(was.Look.Radius), pixels(is.Look.Radius))
	d.text("font", was.Look.Font, is.Look.Font)
	d.text("color_scheme", string(was.Look.ColorScheme), string(is.Look.ColorScheme))
	d.text("purpose", was.Purpose.English, is.Purpose.English)
	d.text("purpose_es", was.Purpose.Spanish, is.Purpose.Spanish)
	if !slices.Equal(was.Emails, is.Emails) {
		d = append(d, audit.Change{
			Field: "notice_addresses", New: strconv.Itoa(len(is.Emails)), Old: strconv.Itoa(len(was.Emails)),
		})
	}
	return d
}

// fingerprint returns the beginning of a logo URL's SHA-256, or "" for an empty URL.
func fingerprint(logo string) string {
	if logo == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(logo))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

func pixels(radius *int) string {
	if radius == nil {
		return ""
	}
	return strconv.Itoa(*radius)
}

// number formats a limit whose zero value is the default.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func onOff(isOn bool) string {
	if isOn {
		return "on"
	}
	return "off"
}
