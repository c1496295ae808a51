// Package erase owns how a connection is erased: what of it is removed in which order, how nothing comes back, and what
// proves it (docs/adr/0036-the-dashboard.md). A request is a row, which a worker takes from stage to stage; whoever
// crashes goes on where the row says. It knows no AWS.
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

// Stage is what an erasure does next.
type Stage string

// The stages, in their order.
const (
	Finding    Stage = "finding"    // what there is of it is written down
	Ending     Stage = "ending"     // it is disconnected, and the portal asked to take the grant back
	Confirming Stage = "confirming" // what has come meanwhile is written down, too
	Removing   Stage = "removing"   // tokens, connection, exports and their files go; from then on nothing new is made
	Events     Stage = "events"     // events that tell of it are looked for, and not delivered any more
	Deliveries Stage = "deliveries" // so are deliveries of these events
	Inquiries  Stage = "inquiries"  // and what patients have asked that names it
	Clearing   Stage = "clearing"   // deliveries, events and inquiries go
	Looking    Stage = "looking"    // when nobody can be at work any more: whether anything is left
	Done       Stage = "done"
)

// Portal is what became of asking the portal to take the grant back.
type Portal string

// The outcomes.
const (
	NothingToRevoke Portal = "nothing_to_revoke" // no tokens, or no revocation endpoint
	Asked           Portal = "asked"             // and has answered
	Unanswered      Portal = "unanswered"        // for an hour
)

// Counts are what was found and removed of a connection.
type Counts struct {
	Connections int64 `json:"connections"`
	Tokens      int64 `json:"tokens"` // token sets or their tombstones, and what was kept for the revocation
	Exports     int64 `json:"exports"`
	Files       int64 `json:"files"` // objects: files, segments, checkpoints, and what is cached of a record
	Events      int64 `json:"events"`
	Deliveries  int64 `json:"deliveries"`
	Attempts    int64 `json:"attempts"` // to deliver
	Inquiries   int64 `json:"inquiries"`
}

// Erasure is a request to erase a connection and how far it is. Once it is done it holds no id of what was erased.
type Erasure struct {
	ID           string // derived, so that a connection has one
	Tenant       org.Tenant
	Stage        Stage
	Actor        string // who has asked
	RequestedAt  time.Time
	FinishedAt   time.Time
	Portal       Portal
	Counts       Counts
	ConnectionID string   // empty once done
	Tasks        []string // ids of its exports; empty once done, as those that follow
	EventIDs     []string
	DeliveryIDs  []string
	InquiryIDs   []string
	Since        time.Time // nothing of the connection is older
	At           Place     // how far the search of a stage is
	// MoreEvents and MoreDeliveries: there were more than the row has place for, and the search begins
	// again once these are gone.
	MoreEvents, MoreDeliveries bool
	DueAt                      time.Time // when it goes on; zero once done
	Rev                        int64
}

// Place is a position in a list.
type Place struct {
	MadeAt time.Time
	ID     string
}

// idOf is the id of a connection's erasure.
func idOf(tenant org.Tenant, connectionID string) string {
	return ids.Derive("erasure", tenant.Key(), connectionID)
}

// Rows keeps erasures. Reads are consistent.
type Rows interface {
	// CreateErasure stores a new one; fault.Conflict when it is there.
	CreateErasure(ctx context.Context, e Erasure) error
	// Erasure reads one; fault.NotFound.
	Erasure(ctx context.Context, tenant org.Tenant, id string) (Erasure, error)
}

// Connections reads connections (store.Connections).
type Connections interface {
	// Connection reads one; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Requests asks for erasures.
type Requests struct {
	Rows        Rows
	Connections Connections
	Now         func() time.Time
}

// Request has a connection erased, and returns how that stands; isNew tells whether nobody had
// asked before. fault.NotFound.
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

// Show reads a connection's erasure, for 90 days after its end. fault.NotFound when nobody has asked for one.
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
