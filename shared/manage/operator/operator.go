// Package operator owns the changes that an operator or a member makes to a stack: organisations, credentials and their
// keys, webhooks, institutions, and how our clients are registered there. Each noun is a type of its own, and its
// constructor takes exactly what the noun touches. The package knows no AWS and no transport, and writes through the
// stores that the functions read. Every change leaves an audit row, of its organisation or of the rows that belong to
// everybody. The command line (infra/ctl/wiring) and the dashboard's functions call it.
package operator

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Audit keeps the audit log.
type Audit interface {
	// Append adds a row to a tenant's log, or with a zero tenant to the log of rows that belong to everybody.
	Append(ctx context.Context, tenant org.Tenant, at time.Time, id, actor, action, target string) error
}

// Journal dates changes, chooses their ids, and writes their audit rows in the name of one actor.
type Journal struct {
	audit Audit
	now   func() time.Time
	newID ids.Source
	actor string
}

// NewJournal makes a Journal whose audit rows name actor.
func NewJournal(audit Audit, now func() time.Time, newID ids.Source, actor string) Journal {
	return Journal{audit: audit, now: now, newID: newID, actor: actor}
}

// As returns the same Journal for another actor.
func (j Journal) As(actor string) Journal {
	j.actor = actor
	return j
}

// record writes the audit row of a change that was made, to a tenant's log or with a zero tenant to everybody's.
func (j Journal) record(ctx context.Context, tenant org.Tenant, action, target string) error {
	if err := j.audit.Append(ctx, tenant, j.now(), j.newID(), j.actor, action, target); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// Notices notifies organisations by e-mail (notice.Outbox).
type Notices interface {
	Notify(ctx context.Context, n notice.Notice) error
}

// notify notifies an organisation by e-mail if it has a verified address.
func notify(ctx context.Context, notices Notices, owner org.Organisation, n notice.Notice) error {
	if len(owner.VerifiedEmails) == 0 {
		return nil
	}
	if err := notices.Notify(ctx, n); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
