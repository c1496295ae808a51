// Package erase owns the erasure of a connection: which of its data is removed in which order, how none can return, and
// the proof (docs/adr/0036-the-dashboard.md). A request is a row that a worker takes from stage to stage; after a
// crash, the worker resumes at the row's stage. The package does not depend on AWS.
package erase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Stage is the next step of an erasure.
type Stage string

// The stages in order.
const (
	Finding    Stage = "finding"    // recording the connection's data
	Ending     Stage = "ending"     // disconnecting it and requesting revocation from the portal
	Confirming Stage = "confirming" // recording data that was added meanwhile
	Removing   Stage = "removing"   // removing tokens, connection, exports and files; nothing new is created afterwards
	Events     Stage = "events"     // finding its events and stopping their delivery
	Deliveries Stage = "deliveries" // finding the deliveries of these events
	Inquiries  Stage = "inquiries"  // finding patients' inquiries that name it
	Clearing   Stage = "clearing"   // removing the deliveries, events and inquiries
	Looking    Stage = "looking"    // once no worker can still be running: checking that nothing remains
	Done       Stage = "done"
)

// Portal is the outcome of asking the portal to revoke the grant.
type Portal string

// The outcomes.
const (
	NothingToRevoke Portal = "nothing_to_revoke" // no tokens, or no revocation endpoint
	Asked           Portal = "asked"             // and has responded
	Unanswered      Portal = "unanswered"        // within an hour
)

// Counts holds the number of items found and removed for a connection.
type Counts struct {
	Connections int64 `json:"connections"`
	Tokens      int64 `json:"tokens"` // token sets or their tombstones, and tokens stored for revocation
	Exports     int64 `json:"exports"`
	Files       int64 `json:"files"` // objects: files, segments, checkpoints and cached records
	Events      int64 `json:"events"`
	Deliveries  int64 `json:"deliveries"`
	Attempts    int64 `json:"attempts"` // delivery attempts
	Inquiries   int64 `json:"inquiries"`
}

// Erasure is a request to erase a connection, with its progress. Once done, it contains no id of the erased data.
type Erasure struct {
	ID           string // derived from the connection, which thus has only one
	Tenant       org.Tenant
	Stage        Stage
	Actor        string // that requested it
	RequestedAt  time.Time
	FinishedAt   time.Time
	Portal       Portal
	Counts       Counts
	ConnectionID string   // empty once done
	Tasks        []string // ids of its exports; like the following fields, empty once done
	EventIDs     []string
	DeliveryIDs  []string
	InquiryIDs   []string
	Since        time.Time // no data of the connection is older
	At           Place     // cursor of the stage's search
	// MoreEvents and MoreDeliveries report that the search found more than fit the row, and resumes after these are
	// removed.
	MoreEvents, MoreDeliveries bool
	DueAt                      time.Time // time of the next step; zero once done
	Rev                        int64
}

// Place is a position in a list.
type Place struct {
	MadeAt time.Time
	ID     string
}

// idOf returns the id of a connection's erasure.
func idOf(tenant org.Tenant, connectionID string) string {
	return ids.Derive("erasure", tenant.Key(), connectionID)
}

// Rows stores erasures. Reads are consistent.
type Rows interface {
	// CreateErasure stores a new erasure; fault.Conflict if it exists.
	CreateErasure(ctx context.Context, e Erasure) error
	// Erasure reads an erasure; fault.NotFound.
	Erasure(ctx context.Context, tenant org.Tenant, id string) (Erasure, error)
}

// Connections reads connections (store.Connections).
type Connections interface {
	// Connection reads a connection; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Requests requests erasures.
type Requests struct {
	Rows        Rows
	Connections Connections
	Now         func() time.Time
}

// Request requests the erasure of a connection and returns its status; isNew reports whether this is the first request.
// It returns fault.NotFound if there is no such connection.
func (r Requests) Request(ctx context.Context, tenant org.Tenant, connectionID,
	actor string,
) (e Erasure, isNew bool, err error) {
	if e, err = r.Show(ctx, tenant, connectionID); !errors.Is(err, fault.NotFound) {
		return e, false, err
	}
	parsed, ok := ids.ParseUUID(connectionID)
	if !ok {
		return Erasure{}, false, connection.Missing()
	}
	c, err := r.Connections.Connection(ctx, tenant, parsed)
	if errors.Is(err, fault.NotFound) {
		return Erasure{}, false, connection.Missing()
	}
	if err != nil {
		return Erasure{}, false, fmt.Errorf("read connection: %w", err)
	}
	now := r.Now()
	e = Erasure{
		ID: idOf(tenant, parsed), Tenant: tenant, Stage: Finding, Actor: actor, RequestedAt: now,
		ConnectionID: parsed, DueAt: now,
		Since: c.CreatedAt,
	}
	if err = r.Rows.CreateErasure(ctx, e); errors.Is(err, fault.Conflict) {
		e, err = r.Show(ctx, tenant, connectionID)
		return e, false, err
	}
	if err != nil {
		return Erasure{}, false, fmt.Errorf("store erasure: %w", err)
	}
	return e, true, nil
}

// Show reads a connection's erasure, until 90 days after its end; fault.NotFound if none was requested.
func (r Requests) Show(ctx context.Context, tenant org.Tenant, connectionID string) (Erasure, error) {
	missing := fault.Missing(
		"Nobody has asked to erase this connection, or it was erased more than 90 days ago.").About("connection")
	parsed, ok := ids.ParseUUID(connectionID)
	if !ok {
		return Erasure{}, missing
	}
	e, err := r.Rows.Erasure(ctx, tenant, idOf(tenant, parsed))
	if errors.Is(err, fault.NotFound) {
		return Erasure{}, missing
	}
	if err != nil {
		return Erasure{}, fmt.Errorf("read erasure: %w", err)
	}
	return e, nil
}
