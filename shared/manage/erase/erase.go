// Package erase erases a connection's data. The package defines which data is removed and in which order, how
// recreation is prevented, and how the erasure is proven (docs/adr/0036-the-dashboard.md). A request is a row that a
// worker advances from stage to stage. After a crash, the worker resumes at the row's stage.
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

// Stage names the next step of an erasure.
type Stage string

// Stages of an erasure, in order.
const (
	Finding    Stage = "finding"    // the worker records which data belongs to the connection
	Ending     Stage = "ending"     // the worker disconnects the connection and requests revocation from the portal
	Confirming Stage = "confirming" // the worker records data added since the first pass
	Removing   Stage = "removing"   // the worker removes tokens, connection, exports and files; no new data is created
	Events     Stage = "events"     // the worker finds the connection's events and stops their delivery
	Deliveries Stage = "deliveries" // the worker finds the deliveries of the connection's events
	Inquiries  Stage = "inquiries"  // the worker finds patients' inquiries that mention the connection
	Clearing   Stage = "clearing"   // the worker removes the deliveries, events and inquiries
	Looking    Stage = "looking"    // the worker checks that no data remains, once no other worker can be running
	Done       Stage = "done"
)

// Portal is the outcome of the request to the portal to revoke the grant.
type Portal string

// Outcomes of the revocation request.
const (
	NothingToRevoke Portal = "nothing_to_revoke" // there were no tokens, or the portal has no revocation endpoint
	Asked           Portal = "asked"             // revocation was requested, and the portal responded
	Unanswered      Portal = "unanswered"        // requested, but the portal did not respond within an hour
)

// Counts holds the numbers of a connection's items found and removed, by kind.
type Counts struct {
	Connections int64 `json:"connections"`
	Tokens      int64 `json:"tokens"` // token sets or their tombstones, and tokens stored for revocation
	Exports     int64 `json:"exports"`
	Files       int64 `json:"files"` // stored files, segments, checkpoints and cached records
	Events      int64 `json:"events"`
	Deliveries  int64 `json:"deliveries"`
	Attempts    int64 `json:"attempts"` // delivery attempts
	Inquiries   int64 `json:"inquiries"`
}

// Erasure is a request to erase a connection, with the erasure's progress. A completed Erasure contains no ID of the
// erased data.
type Erasure struct {
	ID           string // derived from the connection ID, so each connection has only one erasure
	Tenant       org.Tenant
	Stage        Stage
	Actor        string // actor who requested the erasure
	RequestedAt  time.Time
	FinishedAt   time.Time
	Portal       Portal
	Counts       Counts
	ConnectionID string   // empty once the erasure is done
	Tasks        []string // IDs of the connection's exports; like the following fields, empty once the erasure is done
	EventIDs     []string
	DeliveryIDs  []string
	InquiryIDs   []string
	Since        time.Time // time before which the connection has no data
	At           Place     // cursor of this stage's search
	// MoreEvents and MoreDeliveries report that more items exist than the row can hold. The search continues once the
	// items in the row have been removed.
	MoreEvents, MoreDeliveries bool
	DueAt                      time.Time // due time of the next step; zero once the erasure is done
	Rev                        int64
}

// Place identifies a row's position in a list.
type Place struct {
	MadeAt time.Time
	ID     string
}

// idOf returns the ID of the erasure for a connection.
func idOf(tenant org.Tenant, connectionID string) string {
	return ids.Derive("erasure", tenant.Key(), connectionID)
}

// Rows stores erasures. All reads are consistent.
type Rows interface {
	// CreateErasure stores a new erasure. It returns fault.Conflict if the erasure already exists.
	CreateErasure(ctx context.Context, e Erasure) error
	// Erasure reads an erasure. It returns fault.NotFound if the erasure does not exist.
	Erasure(ctx context.Context, tenant org.Tenant, id string) (Erasure, error)
}

// Connections reads connections. store.Connections implements it.
type Connections interface {
	// Connection reads a connection. It returns fault.NotFound if the connection does not exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Requests creates and reads erasures.
type Requests struct {
	Rows        Rows
	Connections Connections
	Now         func() time.Time
}

// Request requests the erasure of a connection and returns its progress. isNew reports whether this is the first
// request. Request returns fault.NotFound if the connection does not exist.
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

// Show reads the erasure of a connection until 90 days after its end. It returns fault.NotFound if no erasure was
// requested.
func (r Requests) Show(ctx context.Context, tenant org.Tenant, connectionID string) (Erasure, error) {
	missing := fault.Missing(
		"No erasure was requested for this connection, or it was erased more than 90 days ago.").About("connection")
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
