package deletion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	// drain is the waiting time after the organisation is suspended. The wait exceeds the duration of any attempt
	// already begun, any export run and any revocation by a health system.
	drain = 2 * time.Hour
	// indexTime is the maximum delay before an index reflects a change.
	indexTime = 20 * time.Second
	// margin is the minimum remaining time for a run to begin another step.
	margin = 45 * time.Second
	// page is the maximum number of rows that a single step removes.
	page = 50
)

// Store reads and removes the rows of an organisation. Every removal is idempotent.
type Store interface {
	Rows

	// DueDeletions returns the IDs of the organisations whose deletions are due.
	DueDeletions(ctx context.Context, now time.Time) ([]string, error)
	// Places returns the keys of a stage's rows that follow the given key, at most limit of them. After the last key,
	// it returns an empty list.
	Places(ctx context.Context, of Stage, tenant org.Tenant, behind string, limit int) ([]string, error)
	// Remove removes the row with the given key from a stage, along with all dependent rows. It returns fault.Conflict
	// for an authorized connection.
	Remove(ctx context.Context, of Stage, tenant org.Tenant, place string, now time.Time) error
	// RemoveCounters removes the usage counters of a tenant.
	RemoveCounters(ctx context.Context, tenant org.Tenant) error
	// Domain returns the ID of the organisation that has claimed an email domain. It returns fault.NotFound if the
	// domain is unclaimed.
	Domain(ctx context.Context, domain string) (orgID string, err error)
	// ReleaseDomain releases an email domain if the organisation still claims it.
	ReleaseDomain(ctx context.Context, domain, orgID string) error

	// Organisation reads an organisation. It returns fault.NotFound if the organisation does not exist.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// SaveOrganisation stores an organisation. It returns fault.Conflict if the organisation has changed since it was
	// read.
	SaveOrganisation(ctx context.Context, o org.Organisation) error
	// ForgetOrganisation removes an organisation and its member count in both modes. It returns fault.Conflict if the
	// organisation has changed since it was read.
	ForgetOrganisation(ctx context.Context, o org.Organisation) error
}

// Objects lists and deletes objects in a bucket. blob.Folders implements it.
type Objects interface {
	List(ctx context.Context, prefix string) ([]string, error)
	Delete(ctx context.Context, key string) error
}

// Disconnector ends connections. disconnect.Disconnector implements it.
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Audit records completed deletions. audit.Log implements it.
type Audit interface {
	Append(ctx context.Context, row audit.Row) error
	Has(ctx context.Context, orgID, id string, since time.Time) (bool, error)
}

// Worker deletes organisations stage by stage.
type Worker struct {
	Store        Store
	Files        Objects // files created by exports
	Records      Objects // cached records of TEFCA connections
	Disconnector Disconnector
	Audit        Audit
	Now          func() time.Time
}

// Run advances every due deletion until shortly before the deadline of ctx. One deletion's failure does not affect the
// others.
func (w Worker) Run(ctx context.Context) error {
	found, err := w.Store.DueDeletions(ctx, w.Now())
	if err != nil {
		return fmt.Errorf("look for deletions: %w", err)
	}
	var failures []error
	for _, orgID := range found {
		if w.steps().IsLate(ctx) {
			break
		}
		if stage, err := w.delete(ctx, orgID); err != nil {
			logx.Note(ctx, "eraser.deletion", logx.Failed(), slog.String("org_id", orgID), slog.String("stage", string(stage)),
				slog.Any("cause", err))
			failures = append(failures, fmt.Errorf("deletion of %s: %w", orgID, err))
		}
	}
	if len(found) > 0 {
		logx.Add(ctx, slog.Int("deletions", len(found)))
	}
	return errors.Join(failures[:min(len(failures), 10)]...)
}

func (w Worker) steps() due.Steps[Deletion] {
	return due.Steps[Deletion]{
		DueAt: func(d *Deletion) *time.Time { return &d.DueAt }, IsOpen: func(d *Deletion) bool { return d.IsOpen() },
		Save: w.save, Step: w.step, Margin: margin, Now: w.Now,
	}
}

// delete performs a deletion's steps until a step has to wait or an owner has cancelled the deletion. It returns the
// stage that the deletion has reached.
func (w Worker) delete(ctx context.Context, orgID string) (Stage, error) {
	d, err := w.Store.Deletion(ctx, orgID)
	if err != nil {
		return "", fmt.Errorf("read deletion: %w", err)
	}
	if err = w.steps().Run(ctx, &d); err != nil {
		return d.Stage, fmt.Errorf("stage %s: %w", d.Stage, err)
	}
	return d.Stage, nil
}

func (w Worker) save(ctx context.Context, d *Deletion) error {
	if err := w.Store.SaveDeletion(ctx, *d); err != nil {
		return fmt.Errorf("save deletion: %w", err)
	}
	d.Rev++
	return nil
}

// step performs one idempotent step of a stage and returns the delay before the next step. The caller must then save d.
func (w Worker) step(ctx context.Context, d *Deletion) (time.Duration, error) {
	switch d.Stage {
	case Waiting:
		d.Stage = Stopping
	case Stopping:
		return 0, w.stop(ctx, d)
	case Credentials, Webhooks, Disconnecting, Connections, Exports, Deliveries, Events, Inquiries, Invitations, Members:
		return w.list(ctx, d)
	case Draining:
		if left := d.StoppedAt.Add(drain).Sub(w.Now()); left > 0 {
			return left, nil
		}
		next(d)
	case Counters:
		for _, tenant := range tenants(d.OrgID) {
			if err := w.Store.RemoveCounters(ctx, tenant); err != nil {
				return 0, fmt.Errorf("remove counters: %w", err)
			}
		}
		next(d)
	case Files:
		return 0, w.files(ctx, d)
	case Domains:
		return 0, w.domains(ctx, d)
	case Looking:
		return 0, w.look(ctx, d)
	case Done, Cancelled:
	}
	return 0, nil
}

// stop suspends the organisation, so its keys and public IDs are rejected as if they did not exist.
func (w Worker) stop(ctx context.Context, d *Deletion) error {
	o, err := w.Store.Organisation(ctx, auditTenant(d.OrgID))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return fmt.Errorf("read organisation: %w", err)
	}
	if err == nil && o.Status != org.Inactive {
		o.Status = org.Inactive
		if err := w.Store.SaveOrganisation(ctx, o); err != nil {
			return fmt.Errorf("suspend organisation: %w", err)
		}
	}
	if d.StoppedAt.IsZero() {
		d.StoppedAt = w.Now()
	}
	next(d)
	return nil
}

// tenants returns the tenants of the organisation, one for each mode.
func tenants(orgID string) []org.Tenant {
	both := org.Organisation{ID: orgID}.Tenants()
	return both[:]
}

// auditTenant returns the tenant under which rows for both modes are stored.
func auditTenant(orgID string) org.Tenant { return org.Tenant{Mode: org.Live, OrgID: orgID} }
