// Package intake imports published lists (docs/adr/0023-the-catalogue.md). It defines the sources, schedules their
// fetches, and decides whether a new version replaces the accepted one. A list that looks wrong waits for an operator's
// approval, and an unreadable one changes nothing.
package intake

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/catalog/listing"
)

// Row is a source and its state.
type Row struct {
	Source Source
	State  State
	Rev    int64 // incremented with every change
}

// State is the state of a source. It contains no secrets.
type State struct {
	Accepted *Version `json:"accepted,omitempty"` // version used in the catalogue; nil if none was accepted
	Pending  *Version `json:"pending,omitempty"`  // version waiting for an operator's approval
	Guards   []Guard  `json:"guards,omitempty"`   // reasons for waiting
	// Replaced lists the keys of unused objects, which the next reading deletes.
	Replaced []string `json:"replaced,omitempty"`

	Due       time.Time `json:"due,omitzero"`        // time of the next fetch
	CheckedAt time.Time `json:"checked_at,omitzero"` // time of the last fetch, regardless of its result
	Failures  int       `json:"failures,omitempty"`  // number since the last successful reading
	Reason    Reason    `json:"reason,omitempty"`    // reason for the last failure; empty if there was none
	// UnconfirmedSince is the time since which Accepted has not been confirmed, or zero if the last reading confirmed it.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	// Unpublished reports whether the accepted version has changed since it was last included in a publication.
	Unpublished bool `json:"unpublished,omitempty"`
}

// Version is a list as of one reading.
type Version struct {
	// key of the object with its listings (listing.Stored); unique per reading
	Key       string         `json:"key"`
	Body      string         `json:"body"`               // SHA-256 of the received bytes, in hex
	ETag      string         `json:"etag,omitempty"`     // as sent by the server
	Modified  string         `json:"modified,omitempty"` // the Last-Modified header, verbatim
	Timestamp time.Time      `json:"timestamp,omitzero"` // the list's own timestamp
	ReadAt    time.Time      `json:"read_at"`            // time when it was first read
	Report    listing.Report `json:"report"`             // report of parsing it
	Diff      Diff           `json:"diff"`               // difference from the version that was accepted at that time
}

// Rows stores sources.
type Rows interface {
	// Sources returns all sources, ordered by ID.
	Sources(ctx context.Context) ([]Row, error)
	// Source returns one source. It returns fault.NotFound if there is none.
	Source(ctx context.Context, id string) (Row, error)
	// SaveSource replaces revision row.Rev, or creates the row if Rev is 0. It returns the row with its new Rev, or
	// fault.Conflict if the stored revision differs.
	SaveSource(ctx context.Context, row Row) (Row, error)
}

// Objects stores listings, in the Catalog bucket.
type Objects interface {
	Put(ctx context.Context, key, contentType string, body []byte) error
	// Open reads an object. It returns fault.NotFound if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes an object if it exists.
	Delete(ctx context.Context, key string) error
}

// Known identifies the version that was last read, for a conditional request (RFC 9110, section 13.1).
type Known struct{ ETag, Modified string }

// Answer is a server's response to a request for a list.
type Answer struct {
	IsUnchanged bool
	Body        io.ReadCloser // nil if unchanged; the caller closes it
	Known       Known         // identifies the version in Body
}

// Lists fetches lists (fetch.Client). Its errors have a method Failure() (class string, status int), as those of
// package safehttp do.
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
