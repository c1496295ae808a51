// Package intake owns how published lists come in (docs/adr/0023-the-catalogue.md): which sources there are, when each
// is fetched, and whether what it says now takes the place of what it said before. A list that looks wrong waits for an
// operator, and one that cannot be read leaves everything as it was.
package intake

import (
	"context"
	"io"
	"time"

	"recordbridge/shared/catalog/listing"
)

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
	// Replaced are the keys of objects that nothing names any more; the next reading deletes them.
	Replaced []string `json:"replaced,omitempty"`

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
	// of the object with its listings (listing.Stored), which no later reading has
	Key       string         `json:"key"`
	Body      string         `json:"body"`               // SHA-256 of the bytes that came, in hex
	ETag      string         `json:"etag,omitempty"`     // as the server named them
	Modified  string         `json:"modified,omitempty"` // Last-Modified, as it stood
	Timestamp time.Time      `json:"timestamp,omitzero"` // as the list says itself
	ReadAt    time.Time      `json:"read_at"`            // when it was first read
	Report    listing.Report `json:"report"`             // what came of reading it
	Diff      Diff           `json:"diff"`               // to what was accepted when it was read
}

// Rows keep sources.
type Rows interface {
	// Sources are all of them, by id.
	Sources(ctx context.Context) ([]Row, error)
	// Source is one; fault.NotFound.
	Source(ctx context.Context, id string) (Row, error)
	// SaveSource writes a row whose Rev is the one that was read, or 0 for one that must not be there yet, and returns it
	// with its new Rev; fault.Conflict when another was faster.
	SaveSource(ctx context.Context, row Row) (Row, error)
}

// Objects keep listings (the Catalog bucket).
type Objects interface {
	Put(ctx context.Context, key, contentType string, body []byte) error
	// Open reads one; fault.NotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes one, if it is there.
	Delete(ctx context.Context, key string) error
}

// Known is what a server may be told that we have already (RFC 9110, section 13.1).
type Known struct{ ETag, Modified string }

// Answer is what a server says of a list.
type Answer struct {
	IsUnchanged bool
	Body        io.ReadCloser // nil when it is unchanged; the caller closes it
	Known       Known         // of the Body
}

// Lists fetches lists (fetch.Client). An error tells its reason by Failure() (class string, status int), as
// those of package safehttp do.
type Lists interface {
	Fetch(ctx context.Context, address string, known Known) (Answer, error)
}

// Intake brings lists in.
type Intake struct {
	Lists   Lists
	Rows    Rows
	Objects Objects
	Now     func() time.Time
	Random  func() float64 // from 0 to 1
}
