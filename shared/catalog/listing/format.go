package listing

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// Format is the format of a published list.
type Format string

// Formats of published lists. Read also accepts gzipped lists in every format.
const (
	Brands        Format = "brands"         // User-access Brands bundle: SMART App Launch 2.2, section 8
	Endpoints     Format = "endpoints"      // vendor's Bundle of Endpoint and optional Organization resources: FHIR R4
	LanternCSV    Format = "lantern-csv"    // Lantern's export, including the header row
	LanternJSON   Format = "lantern-json"   // Lantern's rows as an array of objects
	LanternNDJSON Format = "lantern-ndjson" // Lantern's rows, one JSON object per line
	YAML          Format = "yaml"           // manually maintained list; see infra/catalog/example.yaml
)

// Formats returns all formats.
func Formats() []Format {
	return []Format{Brands, Endpoints, LanternCSV, LanternJSON, LanternNDJSON, YAML}
}

type importer func(ctx context.Context, list *bufio.Reader, out *output) error

func importerOf(format Format) (importer, bool) {
	read, known := map[Format]importer{
		Brands: readBrands, Endpoints: readEndpoints, LanternCSV: readCSV, LanternJSON: readRows, LanternNDJSON: readLines,
		YAML: readYAML,
	}[format]
	return read, known
}

// Read calls each for every listing in a list, in order. A problem in one entry is reported and does not affect other
// entries. Bundles contain forward references, so Read holds their relevant parts (about a tenth of the bundle) in
// memory. For other formats, Read holds one entry in memory at a time. If the entire list is rejected, the error is a
// *Refused. Any other error comes from list, ctx or each.
func Read(ctx context.Context, format Format, list io.Reader, each func(Listing) error) (Report, error) {
	read, known := importerOf(format)
	if !known {
		return Report{}, fmt.Errorf("list of the format %q: unknown format", format)
	}
	opened, err := open(list)
	if err != nil {
		return Report{}, err
	}
	out := output{each: each, seen: make(map[string]bool)}
	if err := read(ctx, opened, &out); err != nil {
		return out.report, err
	}
	if out.report.Entries == 0 {
		return out.report, refused(Empty)
	}
	return out.report, nil
}

type output struct {
	each   func(Listing) error
	report Report
	seen   map[string]bool // keys of all listings so far
}

// entry counts a list entry. It returns an error if the list has too many entries or ctx is done.
func (o *output) entry(ctx context.Context) error {
	if o.report.Entries++; o.report.Entries > maxEntries {
		return refused(TooMany)
	}
	return ctx.Err() //nolint:wrapcheck // whose end it is, its owner knows
}

// give passes a listing to the function each, unless a listing with the same key was already passed.
func (o *output) give(l Listing) error {
	if o.seen[l.Key] {
		o.report.omitted(DuplicateKey, l.Key)
		return nil
	}
	o.seen[l.Key] = true
	o.report.Listings++
	return o.each(l)
}
