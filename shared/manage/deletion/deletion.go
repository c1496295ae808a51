// Package deletion deletes organisations: it lets owners cancel a request for a week, then removes everything in a
// fixed order and proves it with an audit row (docs/adr/0044-recovery-and-leaving.md). A request is a row that a worker
// takes from stage to stage, so that a crash loses nothing. The package knows no AWS.
package deletion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Stage names the next step of a deletion.
type Stage string

// The stages, in their order. A stage that is named after rows removes them.
const (
	Waiting       Stage = "waiting"       // until BeginsAt; an owner can cancel
	Stopping      Stage = "stopping"      // the organisation is suspended
	Credentials   Stage = "credentials"   // with their public ids
	Webhooks      Stage = "webhooks"      // from here on no event is sent
	Disconnecting Stage = "disconnecting" // pending exports fail, files end, health systems are asked to revoke the grants
	Draining      Stage = "draining"      // until no attempt, export or revocation is under way any more
	Connections   Stage = "connections"   // with their tokens and cached records
	Exports       Stage = "exports"
	Deliveries    Stage = "deliveries" // with their attempts, and events that only they name
	Events        Stage = "events"
	Inquiries     Stage = "inquiries"
	Counters      Stage = "counters" // usage, uses of keys, and places of exports
	Files         Stage = "files"    // every object that is left
	Invitations   Stage = "invitations"
	Domains       Stage = "domains" // claims of mail domains
	Members       Stage = "members"
	Looking       Stage = "looking" // whether anything is left; then the organisation itself goes
	Done          Stage = "done"
	Cancelled     Stage = "cancelled"
)

const (
	// wait is how long owners have to cancel a deletion.
	wait = 7 * 24 * time.Hour
	// pause is the least time between two requests. Each one mails all members and verified notice addresses, and
	// so does its cancellation.
	pause = 24 * time.Hour
)

// Counts says how many of each were found and removed.
type Counts struct {
	Credentials int64 `json:"credentials"`
	Webhooks    int64 `json:"webhooks"`
	Connections int64 `json:"connections"`
	Exports     int64 `json:"exports"`
	Files       int64 `json:"files"`
	Events      int64 `json:"events"`
	Deliveries  int64 `json:"deliveries"`
	Inquiries   int64 `json:"inquiries"`
	Members     int64 `json:"members"`
	Invitations int64 `json:"invitations"`
	Domains     int64 `json:"domains"`
}

// Deletion is a request to delete an organisation and how far it is. Once it is done it names nobody
// but the organisation's id.
type Deletion struct {
	OrgID       string
	Stage       Stage
	Actor       string // who requested it
	RequestedAt time.Time
	BeginsAt    time.Time
	StoppedAt   time.Time // when the organisation was suspended
	FinishedAt  time.Time
	Counts      Counts
	Claims      []string // mail domains that the organisation may have claimed; empty once done
	Mode        org.Mode // whose rows the stage is at
	At          string   // how far it is in its list
	Held        []string // places of rows that are counted, and to be removed next
	Found       bool     // this pass over the list has found something, so that another one follows
	DueAt       time.Time
	Rev         int64 // compare-and-swap revision; 0 before it is stored
}

// ID identifies the occasion, for its audit row and notices.
func (d Deletion) ID() string {
	return ids.Derive("deletion", d.OrgID, d.RequestedAt.UTC().Format(time.RFC3339Nano))
}

// CanCancel reports whether the deletion has not begun by now.
func (d Deletion) CanCancel(now time.Time) bool { return d.Stage == Waiting && now.Before(d.BeginsAt) }

// IsOpen reports whether the organisation is to be deleted, or is being deleted.
func (d Deletion) IsOpen() bool { return d.Stage != Cancelled && d.Stage != Done }

// Rows keeps deletions, one of an organisation. Reads are consistent.
type Rows interface {
	// Deletion reads an organisation's newest; fault.NotFound.
	Deletion(ctx context.Context, orgID string) (Deletion, error)
	// SaveDeletion replaces revision d.Rev, or creates a row if that is 0; fault.Conflict.
	SaveDeletion(ctx context.Context, d Deletion) error
}

// Requests asks for deletions and cancels them.
type Requests struct {
	Rows Rows
	Now  func() time.Time
}

// Request schedules an organisation's deletion and returns it, or the deletion that is already under way. announce is
// called with a new deletion before it is stored: a deletion that nobody was told of must not begin. claims are the
// mail domains of its members and notice addresses. Errors are those of announce, and fault.Limited if one was
// requested less than a day ago and cancelled.
func (r Requests) Request(ctx context.Context, orgID, actor string, claims []string,
	announce func(Deletion) error,
) (Deletion, error) {
	found, err := r.Rows.Deletion(ctx, orgID)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return Deletion{}, fmt.Errorf("read deletion: %w", err)
	}
	if err == nil && found.Stage != Cancelled {
		return found, nil
	}
	now := r.Now()
	if next := found.RequestedAt.Add(pause); err == nil && now.Before(next) {
		return Deletion{}, fault.New(fault.Limited, fault.CodeRateLimited,
			"A deletion was requested and cancelled within the last day. Try again later.").After(next.Sub(now))
	}
	d := Deletion{
		OrgID: orgID, Stage: Waiting, Actor: actor, RequestedAt: now, BeginsAt: now.Add(wait), Claims: claims,
		DueAt: now.Add(wait), Rev: found.Rev,
	}
	if err := announce(d); err != nil {
		return Deletion{}, err
	}
	if err := r.Rows.SaveDeletion(ctx, d); err != nil {
		return Deletion{}, fmt.Errorf("store deletion: %w", err)
	}
	return d, nil
}

// Cancel ends a deletion that has not begun. It returns fault.NotFound if there is none, and
// fault.Conflict if it has begun.
func (r Requests) Cancel(ctx context.Context, orgID string) (Deletion, error) {
	d, err := r.Show(ctx, orgID)
	if err != nil {
		return Deletion{}, err
	}
	if !d.CanCancel(r.Now()) {
		return Deletion{}, fault.New(fault.Conflict, fault.CodeConflict, "The deletion has already started and can't "+
			"be cancelled.")
	}
	d.Stage, d.DueAt, d.Claims = Cancelled, time.Time{}, nil
	if err := r.Rows.SaveDeletion(ctx, d); err != nil {
		return Deletion{}, fmt.Errorf("cancel deletion: %w", err)
	}
	return d, nil
}

// Show reads an organisation's deletion, for 90 days after its end. It returns fault.NotFound if there is
// none or it was cancelled.
func (r Requests) Show(ctx context.Context, orgID string) (Deletion, error) {
	missing := fault.Missing("No deletion of this organisation is pending.")
	d, err := r.Rows.Deletion(ctx, orgID)
	switch {
	case errors.Is(err, fault.NotFound):
		return Deletion{}, missing.Because(err)
	case err != nil:
		return Deletion{}, fmt.Errorf("read deletion: %w", err)
	case d.Stage == Cancelled:
		return Deletion{}, missing
	}
	return d, nil
}
