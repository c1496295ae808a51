package searchcatalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	defaultSize = 25
	maxQuery    = 300 // in characters
	maxValues   = 60  // maximum length of a list; enough for all US states
	maxValue    = 64  // in characters
)

// request implements the schema CatalogSearch in docs/openapi.yaml.
type request struct {
	APIMode       string            `query:"api_mode"`
	Query         string            `json:"query"`
	SearchAfter   []json.RawMessage `json:"searchAfter"`
	Size          *int              `json:"size"`
	PlatformTypes []string          `json:"platformTypes"`
	Locations     []string          `json:"locations"` // US states as two-letter codes
	SortBy        string            `json:"sortBy"`
	Suggest       bool              `json:"suggest"` // true if an empty query lists the most used institutions first
	SortByOpts    struct {
		LocationZIPCodes []string `json:"locationZipcodes"`
	} `json:"sortByOpts"`
}

const byLocation = "location"

func (r request) check(mode org.Mode) (search.Query, error) {
	q := search.Query{Text: r.Query, Size: defaultSize, Platforms: r.PlatformTypes, ByLocation: r.SortBy == byLocation}
	if r.Size != nil {
		q.Size = *r.Size
	}
	switch {
	case r.APIMode != "" && r.APIMode != string(mode):
		return q, fault.BadRequest("api_mode must match the mode of public_id.").About("api_mode")
	case utf8.RuneCountInString(r.Query) > maxQuery:
		return q, fault.BadRequest("query must have at most 300 characters.").About("query")
	case q.Size < 1 || q.Size > search.MaxSize:
		return q, fault.BadRequest("size must be an integer from 1 to 100.").About("size")
	case tooMany(r.PlatformTypes):
		return q,
			fault.BadRequest("platformTypes must have at most 60 values, each of at most 64 " +
				"characters.").About("platformTypes")
	case r.SortBy != "" && r.SortBy != byLocation:
		return q, fault.BadRequest("sortBy must be location or omitted.").About("sortBy")
	}
	for _, code := range r.Locations {
		if len(code) != 2 || !isEach(code, isLetter) || tooMany(r.Locations) {
			return q, fault.BadRequest("locations must be two-letter state codes.").About("locations")
		}
		q.States = append(q.States, strings.ToUpper(code))
	}
	for _, zip := range r.SortByOpts.LocationZIPCodes {
		if len(zip) < 5 || !isEach(zip[:5], isDigit) || len(zip) > 5 &&
			(len(zip) != 10 || zip[5] != '-' || !isEach(zip[6:], isDigit)) {
			return q, badZIPs()
		}
		q.ZIPs = append(q.ZIPs, zip[:5])
	}
	q.ByLocation = q.ByLocation || r.isSuggestion() && len(q.ZIPs) > 0
	if q.ByLocation && len(q.ZIPs) == 0 || len(q.ZIPs) > maxZIPs {
		return q, badZIPs()
	}
	return q, nil
}

// isSuggestion reports whether the results begin with the most frequently used institutions.
func (r request) isSuggestion() bool { return r.Suggest && strings.TrimSpace(r.Query) == "" }

const maxZIPs = 10

func badZIPs() error {
	return fault.BadRequest(
		"sortBy=location requires sortByOpts.locationZipcodes: 1 to 10 five-digit ZIP codes.").
		About("sortByOpts.locationZipcodes")
}

// asked returns a string that identifies a search, regardless of the page. Each cursor is valid only for the search
// that created it.
func (r request) asked() string {
	asked := fmt.Sprintf("%q %q %q %q %q", r.Query, slices.Sorted(slices.Values(r.PlatformTypes)),
		slices.Sorted(slices.Values(r.Locations)), r.SortBy,
		slices.Sorted(slices.Values(r.SortByOpts.LocationZIPCodes)))
	if r.isSuggestion() {
		asked += " suggest"
	}
	return asked
}

func tooMany(values []string) bool {
	return len(values) > maxValues || slices.ContainsFunc(values,
		func(v string) bool { return utf8.RuneCountInString(v) > maxValue })
}

func isEach(text string, is func(rune) bool) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !is(r) })
}

func isLetter(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
