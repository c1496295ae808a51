package listing

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	YAML          Format = "yaml"           // kept by hand: infra/catalog/example.yaml
)

// Formats are all of them.
func Formats() []Format {
	return []Format{Brands, Endpoints, LanternCSV, LanternJSON, LanternNDJSON, YAML}
}

// importer reads a list of one format.
type importer func(ctx context.Context, list *bufio.Reader, out *output) error

func importerOf(format Format) (importer, bool) {
	read, known := map[Format]importer{
		Brands: readBrands, Endpoints: readEndpoints, LanternCSV: readCSV, LanternJSON: readRows, LanternNDJSON: readLines,
		YAML: readYAML,
	}[format]
	return read, known
}

// Read gives each listing of a list to each, in the order of the list. What is wrong with an entry is in the
// Report and costs no other entry. Bundles refer forwards and are in memory as far as they are needed, at about a
// tenth of their length; of everything else there is one entry. An error is one of the whole list (*Refused), of
// the reader, of ctx, or each's own.
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

// output is where importers put what they find.
type output struct {
	each   func(Listing) error
	report Report
	seen   map[string]bool // keys of listings
}

// entry counts one of the list.
func (o *output) entry(ctx context.Context) error {
	if o.report.Entries++; o.report.Entries > maxEntries {
		return refused(TooMany)
	}
	return ctx.Err() //nolint:wrapcheck // whose end it is, its owner knows
}

// give hands a listing on, unless there was one with its key.
func (o *output) give(l Listing) error {
	if o.seen[l.Key] {
		o.report.lost(DuplicateKey, l.Key)
		return nil
	}
	o.seen[l.Key] = true
	o.report.Listings++
	return o.each(l)
}
