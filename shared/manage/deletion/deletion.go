// Package deletion deletes organisations. An owner can cancel a deletion for a week. After that week, everything is
// removed in a fixed order, and an audit row proves the deletion (docs/adr/0044-recovery-and-leaving.md). A request is
// a row that a worker advances from stage to stage, so a crash loses nothing.
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

// Stages of a deletion, in order. A stage named after a kind of row removes rows of that kind.
const (
	Waiting       Stage = "waiting"       // the deletion begins at BeginsAt; until then, an owner can cancel it
	Stopping      Stage = "stopping"      // the worker suspends the organisation
	Credentials   Stage = "credentials"   // the worker removes credentials and public IDs
	Webhooks      Stage = "webhooks"      // the worker removes webhooks so that no more events are sent
	Disconnecting Stage = "disconnecting" // the worker fails pending exports, expires files and requests revocations
	Draining      Stage = "draining"      // the worker waits until no attempt, export or revocation is in progress
	Connections   Stage = "connections"   // the worker removes connections with their tokens and cached records
	Exports       Stage = "exports"
	Deliveries    Stage = "deliveries" // the worker removes deliveries with their attempts and events
	Events        Stage = "events"
	Inquiries     Stage = "inquiries"
	Counters      Stage = "counters" // the worker removes usage, key uses and the exports' index rows
	Files         Stage = "files"    // the worker removes all remaining objects
	Invitations   Stage = "invitations"
	Domains       Stage = "domains" // the worker releases claimed email domains
	Members       Stage = "members"
	Looking       Stage = "looking" // the worker checks that no rows remain, then removes the organisation itself
	Done          Stage = "done"
	Cancelled     Stage = "cancelled"
)

const (
	// wait is the period during which owners can cancel a deletion.
	wait = 7 * 24 * time.Hour
	// pause is the minimum time between deletion requests, because each request and each cancellation emails all
	// members and verified notice addresses.
	pause = 24 * time.Hour
)

// Counts holds the numbers of items found and removed, by kind.
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

// Deletion is a request to delete an organisation, with the deletion's progress. Once the deletion is done, the row
// identifies the organisation only by ID.
type Deletion struct {
	OrgID       string
	Stage       Stage
	Actor       string // actor who requested the deletion
	RequestedAt time.Time
	BeginsAt    time.Time
	StoppedAt   time.Time // time at which the organisation was suspended
	FinishedAt  time.Time
	Counts      Counts
	Claims      []string // email domains that the organisation may have claimed; empty once done
	Mode        org.Mode // mode whose rows the stage is removing
	At          string   // cursor in the stage's list of rows
	Held        []string // keys of the rows that have been counted and will be removed next
	Found       bool     // whether this pass found rows, which makes another pass necessary
	DueAt       time.Time
	Rev         int64 // revision for compare-and-swap writes; 0 before the deletion is stored
}

// ID returns the request's ID, for the audit row and the notices.
func (d Deletion) ID() string {
	return ids.Derive("deletion", d.OrgID, d.RequestedAt.UTC().Format(time.RFC3339Nano))
}

// CanCancel reports whether an owner can still cancel the deletion at time now.
func (d Deletion) CanCancel(now time.Time) bool { return d.Stage == Waiting && now.Before(d.BeginsAt) }

// IsOpen reports whether the deletion is scheduled or in progress.
func (d Deletion) IsOpen() bool { return d.Stage != Cancelled && d.Stage != Done }

// Rows stores deletions, at most one per organisation. All reads are consistent.
type Rows interface {
	// Deletion reads the latest deletion of an organisation. It returns fault.NotFound if the organisation has no
	// deletion.
	Deletion(ctx context.Context, orgID string) (Deletion, error)
	// SaveDeletion replaces the deletion if its stored revision is d.Rev, or creates it if d.Rev is 0. It returns
	// fault.Conflict if the stored revision differs.
	SaveDeletion(ctx context.Context, d Deletion) error
}

// Requests creates, cancels and reads deletions.
type Requests struct {
	Rows Rows
	Now  func() time.Time
}

// Request schedules the deletion of an organisation and returns the deletion. It returns a deletion that is already
// scheduled or in progress. A new deletion is announced before it is stored, so that no deletion begins unannounced.
// claims lists the email domains of the organisation's members and notice addresses. The error is announce's, or
// fault.Limited if a deletion was requested less than a day ago and cancelled.
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

// Cancel cancels a deletion that has not begun. It returns fault.NotFound if no deletion is scheduled and
// fault.Conflict if the deletion has begun.
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

// Show returns an organisation's deletion until 90 days after its end. It returns fault.NotFound if no deletion exists
// or if it was cancelled.
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
