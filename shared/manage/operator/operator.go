// Package operator implements administrative changes to a stack by operators and members. It changes organisations,
// credentials and their keys, webhooks, institutions, and Recordbridge's client registrations. Each kind of object has
// its own type, whose constructor takes only the dependencies that it needs. The package depends on neither AWS nor a
// transport, and writes to the same stores that the Lambda functions read. Every change adds an audit row to its
// organisation's log or to the shared log. The command line (infra/ctl/wiring) and the dashboard functions call this
// package.
package operator

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Audit appends rows to the audit logs.
type Audit interface {
	// Append adds a row to its tenant's log or, if the tenant is zero, to the shared log.
	Append(ctx context.Context, row audit.Row) error
}

// Journal writes audit rows on behalf of one actor. It also determines the time and ID of each change.
type Journal struct {
	audit Audit
	now   func() time.Time
	newID ids.Source
	actor string
}

// NewJournal returns a Journal that appends to log and records actor in audit rows.
func NewJournal(log Audit, now func() time.Time, newID ids.Source, actor string) Journal {
	return Journal{audit: log, now: now, newID: newID, actor: actor}
}

// As returns a copy of j that records actor in audit rows.
func (j Journal) As(actor string) Journal {
	j.actor = actor
	return j
}

// record writes the audit row for a completed change to a tenant's log or, if tenant is zero, to the shared log.
func (j Journal) record(ctx context.Context, tenant org.Tenant, action, target string,
	changes ...audit.Change,
) error {
	row := audit.Row{
		At: j.now(), ID: j.newID(), Tenant: tenant, Actor: j.actor, Action: action, Target: target, Changes: changes,
	}
	if err := j.audit.Append(ctx, row); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// Notices notifies organisations by email. notice.Outbox implements it.
type Notices interface {
	Notify(ctx context.Context, n notice.Notice) error
}

// notify emails a notice to an organisation if it has a verified address.
func notify(ctx context.Context, notices Notices, owner org.Organisation, n notice.Notice) error {
	if len(owner.VerifiedEmails) == 0 {
		return nil
	}
	if err := notices.Notify(ctx, n); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
