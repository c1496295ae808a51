// Package intake owns how published lists come in (docs/adr/0023-the-catalogue.md): which sources there are, when each is fetched, and whether
// what it says now takes the place of what it said before. A list that looks wrong waits for an operator, and one that cannot be read leaves
// everything as it was.
package intake

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/catalog/listing"
)

// Source is a published list, as an operator has set it.
type Source struct {
	ID       string         `json:"id" yaml:"id"`     // lower case letters, digits and hyphens
	Name     string         `json:"name" yaml:"name"` // for people
	Mode     string         `json:"mode" yaml:"mode"` // "test" or "live": of everything that is made of it
	URL      string         `json:"url,omitempty" yaml:"url"`
	Format   listing.Format `json:"format" yaml:"format"`
	Every    time.Duration  `json:"every,omitempty" yaml:"every"`       // how often it is fetched; with 0, or without a URL, only when an operator says so
	Platform string         `json:"platform,omitempty" yaml:"platform"` // of endpoints of which the list does not say it itself
	Priority int            `json:"priority,omitempty" yaml:"priority"` // of two sources that differ, the greater is believed
	License  string         `json:"license,omitempty" yaml:"license"`   // under which the list may be used, as far as its publisher says

	// Brand is set for a list that an institution publishes of itself (SMART App Launch 2.2, section 8: brandBundle, user_access_brand_identifier).
	// Nothing is taken from it but that brand and what is part of it.
	Brand *listing.Identifier `json:"brand,omitempty" yaml:"brand"`
}

// Row is a source with how it stands.
type Row struct {
	Source Source
	State  State
	Rev    int64 // grows with every change
}

// State is how a source stands. Nothing in it is secret.
type State struct {
	Accepted *Version `json:"accepted,omitempty"` // what the catalogue is made of; nil before the first
	Pending  *Version `json:"pending,omitempty"`  // waits for an operator's approval
	Guards   []Guard  `json:"guards,omitempty"`   // why it waits

	Due       time.Time `json:"due,omitzero"`        // of the next fetching
	CheckedAt time.Time `json:"checked_at,omitzero"` // the last, whatever came of it
	Failures  int       `json:"failures,omitempty"`  // since the last that was read
	Reason    Reason    `json:"reason,omitempty"`    // of the last failure; empty when there was none
	// UnconfirmedSince is since when Accepted could not be confirmed; zero when the last reading did.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	// Unpublished tells that what the catalogue is made of has changed since a publication took it in.
	Unpublished bool `json:"unpublished,omitempty"`
}

// Version is a list as it was read once.
type Version struct {
	Key       string         `json:"key"`                // of the object with its listings (listing.Stored)
	Body      string         `json:"body"`               // SHA-256 of the bytes that came, in hex
	ETag      string         `json:"etag,omitempty"`     // as the server named them
	Modified  string         `json:"modified,omitempty"` // Last-Modified, as it stood
	Timestamp time.Time      `json:"timestamp,omitzero"` // as the list says itself
	ReadAt    time.Time      `json:"read_at"`            // when it was first read
	Report    listing.Report `json:"report"`             // what came of reading it
	Diff      Diff           `json:"diff"`               // to what was accepted when it was read
}

// Diff is what differs between two versions of a list, by the keys of listings.
type Diff struct {
	Before  int     `json:"before"` // listings
	After   int     `json:"after"`
	Added   Changes `json:"added"`
	Removed Changes `json:"removed"`
	Changed Changes `json:"changed"`
}

// Changes are some listings.
type Changes struct {
	Count int      `json:"count"`
	Names []string `json:"names,omitempty"` // of the first 20
}

// Rows keep sources.
type Rows interface {
	// Sources are all of them, by id.
	Sources(ctx context.Context) ([]Row, error)
	// Source is one; fault.NotFound.
	Source(ctx context.Context, id string) (Row, error)
	// SaveSource writes a row whose Rev is the one that was read, or 0 for one that must not be there yet, and returns it with its new Rev;
	// fault.Conflict when another was faster.
	SaveSource(ctx context.Context, row Row) (Row, error)
}

// Objects keep listings (the Catalog bucket).
type Objects interface {
	Put(ctx context.Context, key, contentType string, body []byte) error
	// Open reads one; fault.NotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}
