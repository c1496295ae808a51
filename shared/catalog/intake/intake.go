// Package intake imports published lists (docs/adr/0023-the-catalogue.md). It defines the sources, schedules their
// fetches, and decides whether a new version replaces the accepted one. A list that looks wrong waits for an operator,
// and an unreadable one changes nothing.
package intake

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/catalog/listing"
)

// Row is a source with its state.
type Row struct {
	Source Source
	State  State
	Rev    int64 // increases with every change
}

// State is the state of a source. It contains no secrets.
type State struct {
	Accepted *Version `json:"accepted,omitempty"` // the version in the catalogue; nil before the first
	Pending  *Version `json:"pending,omitempty"`  // waits for an operator's approval
	Guards   []Guard  `json:"guards,omitempty"`   // reasons for waiting
	// Replaced lists the keys of unused objects; the next reading deletes them.
	Replaced []string `json:"replaced,omitempty"`

	Due       time.Time `json:"due,omitzero"`        // time of the next fetch
	CheckedAt time.Time `json:"checked_at,omitzero"` // time of the last fetch, whatever its result
	Failures  int       `json:"failures,omitempty"`  // since the last successful reading
	Reason    Reason    `json:"reason,omitempty"`    // reason of the last failure; empty if there was none
	// UnconfirmedSince is the time since which Accepted could not be confirmed, or zero if the last reading confirmed it.
	UnconfirmedSince time.Time `json:"unconfirmed_since,omitzero"`
	// Unpublished reports whether the accepted version has changed since the last publication that included it.
	Unpublished bool `json:"unpublished,omitempty"`
}

// Version is a list as read once.
type Version struct {
	// of the object with its listings (listing.Stored); unique per reading
	Key       string         `json:"key"`
	Body      string         `json:"body"`               // SHA-256 of the received bytes, in hex
	ETag      string         `json:"etag,omitempty"`     // as sent by the server
	Modified  string         `json:"modified,omitempty"` // Last-Modified, verbatim
	Timestamp time.Time      `json:"timestamp,omitzero"` // the list's own timestamp
	ReadAt    time.Time      `json:"read_at"`            // when it was first read
	Report    listing.Report `json:"report"`             // the result of parsing it
	Diff      Diff           `json:"diff"`               // compared with the version accepted at that time
}

// Rows stores sources.
type Rows interface {
	// Sources returns all sources, ordered by id.
	Sources(ctx context.Context) ([]Row, error)
	// Source returns one source, or fault.NotFound.
	Source(ctx context.Context, id string) (Row, error)
	// SaveSource replaces the revision row.Rev that was read, or creates the row if Rev is 0. It returns the row with its
	// new Rev, or fault.Conflict if another writer was faster.
	SaveSource(ctx context.Context, row Row) (Row, error)
}

// Objects stores listings (the Catalog bucket).
type Objects interface {
	Put(ctx context.Context, key, contentType string, body []byte) error
	// Open reads an object, or returns fault.NotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes an object if it exists.
	Delete(ctx context.Context, key string) error
}

// Known identifies the version that we already have, for a conditional request (RFC 9110, section 13.1).
type Known struct{ ETag, Modified string }

// Answer is a server's response to the request for a list.
type Answer struct {
	IsUnchanged bool
	Body        io.ReadCloser // nil if unchanged; the caller closes it
	Known       Known         // identifies the Body
}

// Lists fetches lists (fetch.Client). An error reports its reason with Failure() (class string, status int), as those
// of package safehttp do.
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
