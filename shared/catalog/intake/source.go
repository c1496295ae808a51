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
	ID     string         `json:"id" yaml:"id"`     // lowercase letters, digits and hyphens
	Name   string         `json:"name" yaml:"name"` // display name
	Mode   string         `json:"mode" yaml:"mode"` // mode of all records from the list: "test" or "live"
	URL    string         `json:"url,omitempty" yaml:"url"`
	Format listing.Format `json:"format" yaml:"format"`
	// fetch interval; without an interval or a URL, the list is fetched only at an operator's request
	Every time.Duration `json:"every,omitempty" yaml:"every"`
	// platform of endpoints whose platform the list does not state
	Platform string `json:"platform,omitempty" yaml:"platform"`
	// if two sources conflict, the one with the higher priority wins
	Priority int `json:"priority,omitempty" yaml:"priority"`
	// licence stated by the list's publisher
	License string `json:"license,omitempty" yaml:"license"`
	Note    string `json:"note,omitempty" yaml:"note"` // note for operators

	// Brand is set for a list that an institution publishes about itself (SMART App Launch 2.2, section 8: brandBundle,
	// user_access_brand_identifier). Only the brand with this identifier and its parts are imported from the list.
	Brand *listing.Identifier `json:"brand,omitempty" yaml:"brand"`
}

// ownFirst is higher than any priority that an operator can set.
const ownFirst = 1000

// Rank returns the source's Priority or, for a list that an institution publishes about itself, a value higher than any
// Priority. Apps must prefer an institution's own list to a vendor's (SMART App Launch 2.2, section 8).
func (s Source) Rank() int {
	if s.Brand != nil {
		return ownFirst + s.Priority
	}
	return s.Priority
}

// Limits on the fetch interval that protect the list's server.
const (
	oftenest  = time.Hour
	seldomest = 90 * 24 * time.Hour
)

var sourceID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check validates a source. It returns fault.Invalid with the name of the invalid field.
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

func (s Source) isFetched() bool { return s.URL != "" && s.Every > 0 }

// Due returns the sources that are due for fetching, longest overdue first.
func Due(rows []Row, now time.Time) []Row {
	due := slices.DeleteFunc(slices.Clone(rows),
		func(r Row) bool { return !r.Source.isFetched() || r.State.Due.After(now) })
	slices.SortStableFunc(due, func(a, b Row) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), cmp.Compare(a.Source.ID, b.Source.ID))
	})
	return due
}
