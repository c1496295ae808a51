package export

import (
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
)

// Options narrows an export and selects its formats. The fields are extensions of the POST ehi-export request. The zero
// value selects the complete record as NDJSON.
type Options struct {
	Since time.Time `json:"since,omitzero"` // only resources changed since this time; zero for all
	// requested resource types, sorted; empty for all types. The Patient is always included.
	Types   []string `json:"types,omitempty"`
	Formats []Format `json:"formats,omitempty"` // requested formats, in the order of formats(); empty if only JSONLines
	// synthetic record to deliver instead of the connection's record; may be empty
	Fixture string `json:"fixture,omitempty"`
}

// Format is an export format. It appears as a download link's export_type (docs/guide/webhook-reference.md, "Body").
type Format string

// Export formats. The first format is the default. The other formats are extensions (docs/reference/deviations.md).
const (
	JSONLines Format = "jsonl"       // NDJSON, one resource per line
	Gzipped   Format = "jsonl_gz"    // gzip-compressed NDJSON
	OneBundle Format = "fhir_bundle" // single FHIR Bundle of type collection
	Report    Format = "outcome"     // outcome report: the request, its outcome, and losses by resource type
)

// formats returns all formats, in the order of the download links.
func formats() []Format { return []Format{JSONLines, Gzipped, OneBundle, Report} }

// Suffix returns the file name suffix for the format.
func (f Format) Suffix() string {
	switch f {
	case Gzipped:
		return ".jsonl.gz"
	case OneBundle:
		return ".bundle.json"
	case Report:
		return ".outcome.json"
	case JSONLines:
	}
	return ".jsonl"
}

// ContentType returns the MIME type of a file in this format for the given FHIR version. An unknown version is treated
// as R4. The MIME type for R4 has no version parameter (FHIR http.html#version-parameter).
func (f Format) ContentType(fhirVersion string) string {
	version := ""
	switch {
	case fhirVersion == "":
	case fhirVersion[0] == '1':
		version = "; fhirVersion=1.0"
	case fhirVersion[0] == '3':
		version = "; fhirVersion=3.0"
	}
	switch f {
	case Gzipped:
		return "application/gzip"
	case OneBundle:
		return "application/fhir+json" + version
	case Report:
		return "application/json"
	case JSONLines:
	}
	return "application/fhir+ndjson" + version
}

const maxTypes = 100

// ParseOptions parses a request's options. since is an RFC 3339 time, a date, or empty for no limit. Errors are
// fault.Invalid and never quote the input.
func ParseOptions(since string, resourceTypes, formatNames []string, now time.Time) (Options, error) {
	var o Options
	var err error
	if since != "" {
		if o.Since, err = parseSince(since, now); err != nil {
			return Options{}, err
		}
	}
	if o.Types, err = parseTypes(resourceTypes); err != nil {
		return Options{}, err
	}
	o.Formats, err = parseFormats(formatNames)
	return o, err
}

func parseSince(text string, now time.Time) (time.Time, error) {
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		since, err = time.Parse(time.DateOnly, text)
	}
	switch {
	case err != nil || since.Year() < 1900:
		return time.Time{},
			fault.BadRequest("since must be a date, such as 2026-01-31, or a timestamp, such as " +
				"2026-01-31T12:00:00Z.").About("since")
	case since.After(now):
		return time.Time{}, fault.BadRequest("since must not be in the future.").About("since")
	}
	return since.UTC().Truncate(time.Second), nil
}

func parseTypes(list []string) ([]string, error) {
	if len(list) > maxTypes {
		return nil,
			fault.BadRequest(fmt.Sprintf("resource_types must not name more than %d types.", maxTypes)).About("resource_types")
	}
	searched := len(list) == 0
	for i, resourceType := range list {
		switch {
		case plan.Searched(resourceType) || resourceType == "Patient":
			searched = true
		case !plan.Followed(resourceType):
			return nil,
				fault.BadRequest(fmt.Sprintf("resource_types[%d] is not an exportable resource type.",
					i)).About("resource_types")
		}
	}
	if !searched {
		return nil, fault.BadRequest("resource_types contains only types that are fetched as references. Add the " +
			"types that refer to them.").About("resource_types")
	}
	return slices.Compact(slices.Sorted(slices.Values(list))), nil
}

func parseFormats(list []string) ([]Format, error) {
	for i, name := range list {
		if !slices.Contains(formats(), Format(name)) {
			return nil,
				fault.BadRequest(fmt.Sprintf("formats[%d] is not jsonl, jsonl_gz, fhir_bundle or outcome.", i)).About("formats")
		}
	}
	chosen := slices.DeleteFunc(formats(), func(f Format) bool { return !slices.Contains(list, string(f)) })
	switch {
	case len(chosen) == 0, len(chosen) == 1 && chosen[0] == JSONLines:
		return nil, nil
	case len(chosen) == 1 && chosen[0] == Report:
		return nil,
			fault.BadRequest(
				"formats must also include jsonl, jsonl_gz or fhir_bundle; outcome alone contains no " +
					"records.").About("formats")
	}
	return chosen, nil
}

// Chosen returns the formats in which the export is delivered.
func (o Options) Chosen() []Format {
	if len(o.Formats) == 0 {
		return []Format{JSONLines}
	}
	return o.Formats
}

// Wants reports whether the export includes resources of the given type.
func (o Options) Wants(resourceType string) bool {
	return len(o.Types) == 0 || resourceType == "Patient" || slices.Contains(o.Types, resourceType)
}

// Changed reports whether to export a resource with the given meta.lastUpdated. It returns false only if lastUpdated is
// before o.Since. A resource without a usable time is exported.
func (o Options) Changed(lastUpdated string) bool {
	if o.Since.IsZero() {
		return true
	}
	at, err := time.Parse(time.RFC3339, lastUpdated)
	return err != nil || !at.Before(o.Since)
}

// equal reports whether a single export satisfies requests with options o and other.
func (o Options) equal(other Options) bool {
	return o.Since.Equal(other.Since) && slices.Equal(o.Types, other.Types) && slices.Equal(o.Formats, other.Formats) &&
		o.Fixture == other.Fixture
}
