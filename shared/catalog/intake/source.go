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

// Source is a published list, as an operator has set it.
type Source struct {
	ID     string         `json:"id" yaml:"id"`     // lower case letters, digits and hyphens
	Name   string         `json:"name" yaml:"name"` // for people
	Mode   string         `json:"mode" yaml:"mode"` // "test" or "live": of everything that is made of it
	URL    string         `json:"url,omitempty" yaml:"url"`
	Format listing.Format `json:"format" yaml:"format"`
	// how often it is fetched; with 0, or without a URL, only when an operator says so
	Every time.Duration `json:"every,omitempty" yaml:"every"`
	// of endpoints of which the list does not say it itself
	Platform string `json:"platform,omitempty" yaml:"platform"`
	// of two sources that differ, the greater is believed
	Priority int `json:"priority,omitempty" yaml:"priority"`
	// under which the list may be used, as far as its publisher says
	License string `json:"license,omitempty" yaml:"license"`
	Note    string `json:"note,omitempty" yaml:"note"` // for operators

	// Brand is set for a list that an institution publishes of itself (SMART App Launch 2.2, section 8: brandBundle,
	// user_access_brand_identifier). Nothing is taken from it but that brand and what is part of it.
	Brand *listing.Identifier `json:"brand,omitempty" yaml:"brand"`
}

// ownFirst is above every priority that an operator gives.
const ownFirst = 1000

// Rank is the Priority, or above all of them for what an institution says of itself: apps have to believe that before a
// vendor's list (SMART App Launch 2.2, section 8).
func (s Source) Rank() int {
	if s.Brand != nil {
		return ownFirst + s.Priority
	}
	return s.Priority
}

// The bounds of how often a list is fetched: its server is somebody else's.
const (
	oftenest  = time.Hour
	seldomest = 90 * 24 * time.Hour
)

var sourceID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check tells what is wrong with a source; fault.Invalid, about the field.
func (s Source) Check() error {
	const longest = 60
	wrong := func(field, text string) error { return fault.BadRequest(text).About(field) }
	address, err := url.Parse(s.URL)
	switch {
	case len(s.ID) > longest || !sourceID.MatchString(s.ID):
		return wrong("id", "A source's ID may contain only lower-case letters, digits and hyphens.")
	case s.Name == "":
		return wrong("name", "A source needs a name.")
	case s.Mode != "test" && s.Mode != "live":
		return wrong("mode", "A source's mode must be test or live.")
	case !slices.Contains(listing.Formats(), s.Format):
		return wrong("format", "Unknown format.")
	case s.URL != "" && (err != nil || address.Host == "" || address.User != nil || address.Fragment != "" ||
		address.Scheme != "https" && s.Mode == "live"):
		return wrong("url", "A list's URL must use https and have no user information.")
	case s.Every != 0 && (s.Every < oftenest || s.Every > seldomest):
		return wrong("every", "A list's refresh interval must be between one hour and 90 days.")
	case s.Priority < 0 || s.Priority >= ownFirst:
		return wrong("priority", "A priority must be from 0 to 999.")
	case s.Brand != nil && (s.Brand.Value == "" || s.Brand.System == "" || s.Format != listing.Brands):
		return wrong("brand", "A brand's own list must be a bundle of brands and have the brand's identifier and its "+
			"system.")
	}
	return nil
}

// isFetched tells a source that is fetched without being asked.
func (s Source) isFetched() bool { return s.URL != "" && s.Every > 0 }

// Due are the sources whose time has come, those that have waited longest first.
func Due(rows []Row, now time.Time) []Row {
	due := slices.DeleteFunc(slices.Clone(rows),
		func(r Row) bool { return !r.Source.isFetched() || r.State.Due.After(now) })
	slices.SortStableFunc(due, func(a, b Row) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), cmp.Compare(a.Source.ID, b.Source.ID))
	})
	return due
}
