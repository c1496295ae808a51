package intake

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"time"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/words/fault"
)

// Source is a published list, as configured by an operator.
type Source struct {
	ID     string         `json:"id" yaml:"id"`     // lower case letters, digits and hyphens
	Name   string         `json:"name" yaml:"name"` // shown to people
	Mode   string         `json:"mode" yaml:"mode"` // "test" or "live"; applies to all records from the list
	URL    string         `json:"url,omitempty" yaml:"url"`
	Format listing.Format `json:"format" yaml:"format"`
	// how often it is fetched; if 0, or without a URL, only at an operator's request
	Every time.Duration `json:"every,omitempty" yaml:"every"`
	// of endpoints for which the list names no platform
	Platform string `json:"platform,omitempty" yaml:"platform"`
	// if two sources differ, the higher priority takes precedence
	Priority int `json:"priority,omitempty" yaml:"priority"`
	// the licence of the list, as stated by its publisher
	License string `json:"license,omitempty" yaml:"license"`
	Note    string `json:"note,omitempty" yaml:"note"` // note for operators

	// Brand is set for a list that an institution publishes about itself (SMART App Launch 2.2, section 8: brandBundle,
	// user_access_brand_identifier). Only that brand and its parts are imported.
	Brand *listing.Identifier `json:"brand,omitempty" yaml:"brand"`
}

// ownFirst exceeds every priority that an operator can set.
const ownFirst = 1000

// Rank returns the Priority, or a higher value than any Priority for an institution's own list: apps must prefer that
// to a vendor's list (SMART App Launch 2.2, section 8).
func (s Source) Rank() int {
	if s.Brand != nil {
		return ownFirst + s.Priority
	}
	return s.Priority
}

// The bounds of the fetch interval, out of respect for the list's server.
const (
	oftenest  = time.Hour
	seldomest = 90 * 24 * time.Hour
)

var sourceID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check validates a source. It returns fault.Invalid with the field's name.
func (s Source) Check() error {
	const longest = 60
	wrong := func(field, text string) error { return fault.BadRequest(text).About(field) }
	address, err := url.Parse(s.URL)
	switch {
	case len(s.ID) > longest || !sourceID.MatchString(s.ID):
		return wrong("id", "A source's id is made of lower case letters, digits and hyphens.")
	case s.Name == "":
		return wrong("name", "A source needs a name.")
	case s.Mode != "test" && s.Mode != "live":
		return wrong("mode", "A source is of mode test or live.")
	case !slices.Contains(listing.Formats(), s.Format):
		return wrong("format", "There is no such format.")
	case s.URL != "" && (err != nil || address.Host == "" || address.User != nil || address.Fragment != "" ||
		address.Scheme != "https" && s.Mode == "live"):
		return wrong("url", "A list is fetched from an https address without user information.")
	case s.Every != 0 && (s.Every < oftenest || s.Every > seldomest):
		return wrong("every", "A list is fetched between once an hour and once in 90 days.")
	case s.Priority < 0 || s.Priority >= ownFirst:
		return wrong("priority", "A priority is from 0 to 999.")
	case s.Brand != nil && (s.Brand.Value == "" || s.Brand.System == "" || s.Format != listing.Brands):
		return wrong("brand", "A brand's own list is a bundle of brands, and has the brand's identifier with its system.")
	}
	return nil
}

// isFetched reports whether a source is fetched automatically.
func (s Source) isFetched() bool { return s.URL != "" && s.Every > 0 }

// Due returns the sources that are due for fetching, the longest overdue first.
func Due(rows []Row, now time.Time) []Row {
	due := slices.DeleteFunc(slices.Clone(rows),
		func(r Row) bool { return !r.Source.isFetched() || r.State.Due.After(now) })
	slices.SortStableFunc(due, func(a, b Row) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), cmp.Compare(a.Source.ID, b.Source.ID))
	})
	return due
}
