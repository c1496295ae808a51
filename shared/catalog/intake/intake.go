// Package intake imports published lists (docs/adr/0023-the-catalogue.md). The package defines the sources, schedules
// their fetches, and decides whether a new version replaces the accepted version. A suspicious list waits for an
// operator's approval. An unreadable list leaves the accepted version unchanged.
package intake

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/catalog/listing"
)

// Row holds a source and its state.
type Row struct {
	Source Source
	State  State
	Rev    int64 // revision, incremented with every change
}

// State holds a source's state and contains no secrets.
type State struct {
	Accepted *Version `json:"accepted,omitempty"` // version used in the catalogue; nil if no version was accepted
	Pending  *Version `json:"pending,omitempty"`  // version awaiting an operator's approval
	Guards   []Guard  `json:"guards,omitempty"`   // reasons why Pending awaits approval
	// Replaced lists the keys of unused objects, which the next read deletes.
	Replaced []string `json:"replaced,omitempty"`

	Due       time.Time `json:"due,omitzero"`        // time of the next fetch
	CheckedAt time.Time `json:"checked_at,omitzero"` // time of the last fetch, regardless of its result
	Failures  int       `json:"failures,omitempty"`  // number of failures since the last successful read
	Reason    Reason    `json:"reason,omitempty"`    // reason for the last failure; empty if there was no failure
	// UnconfirmedSince is the time at which Accepted became unconfirmed, or zero if the last read confirmed Accepted.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	// Unpublished reports whether the accepted version has changed since it was last published.
	Unpublished bool `json:"unpublished,omitempty"`
}

// Version is a list as read at a particular time.
type Version struct {
	// key of the object that stores the listings (listing.Stored); unique per read
	Key       string         `json:"key"`
	Body      string         `json:"body"`               // SHA-256 of the received bytes, in hex
	ETag      string         `json:"etag,omitempty"`     // the ETag header, verbatim
	Modified  string         `json:"modified,omitempty"` // the Last-Modified header, verbatim
	Timestamp time.Time      `json:"timestamp,omitzero"` // timestamp stated in the list
	ReadAt    time.Time      `json:"read_at"`            // time at which this version was first read
	Report    listing.Report `json:"report"`
	Diff      Diff           `json:"diff"` // difference from the version that was accepted when this version was read
}

// Rows stores sources.
type Rows interface {
	// Sources returns all sources, ordered by ID.
	Sources(ctx context.Context) ([]Row, error)
	// Source returns one source. It returns fault.NotFound if the source does not exist.
	Source(ctx context.Context, id string) (Row, error)
	// SaveSource replaces the stored row at revision row.Rev, or creates the row if Rev is 0. It returns the row with
	// its new Rev, or fault.Conflict if the stored revision differs.
	SaveSource(ctx context.Context, row Row) (Row, error)
}

// Objects stores listings in the Catalog bucket.
type Objects interface {
	Put(ctx context.Context, key, contentType string, body []byte) error
	// Open reads an object. It returns fault.NotFound if the object does not exist.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes an object if it exists.
	Delete(ctx context.Context, key string) error
}

// Known identifies the version that was last read, for a conditional request (RFC 9110, section 13.1).
type Known struct{ ETag, Modified string }

// Answer is a server's response to a request for a list.
type Answer struct {
	IsUnchanged bool
	Body        io.ReadCloser // the list, to be closed by the caller; nil if unchanged
	Known       Known         // identifies the version in Body
}

// Lists fetches lists (fetch.Client). Its errors implement Failure() (class string, status int), like those of package
// safehttp.
type Lists interface {
	Fetch(ctx context.Context, address string, known Known) (Answer, error)
}

// Intake imports lists.
type Intake struct {
	Lists   Lists
	Rows    Rows
	Objects Objects
	Now     func() time.Time
	Random  func() float64 // returns a number from 0 to 1
}
