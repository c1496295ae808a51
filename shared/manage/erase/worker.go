package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	// portalTime is the portal's time limit for revoking the grant. When this limit expires, the tokens kept for the
	// request are removed.
	portalTime = time.Hour
	// askAgain is the delay between checks in a stage that waits for the portal or another worker.
	askAgain = time.Minute
	// indexTime is the maximum delay before an event appears in the index.
	indexTime = 20 * time.Second
	// quiet is the time during which a run may still write to the bucket after its export's row was removed. The period
	// exceeds the maximum run time of a Lambda function.
	quiet = 20 * time.Minute
	// margin is the minimum remaining time for a run to begin another step.
	margin = 30 * time.Second
	page   = 100
	// mostHeld is the maximum number of IDs in each list in the erasure's row.
	mostHeld = 1000
)

// Store reads and removes the data of a connection that is being erased. Every removal is idempotent.
type Store interface {
	Connections

	// DueErasures returns the tenant and ID of each due erasure.
	DueErasures(ctx context.Context, now time.Time) ([]Erasure, error)
	Erasure(ctx context.Context, tenant org.Tenant, id string) (Erasure, error)
	// SaveErasure replaces the erasure if its stored revision is e.Rev. It returns fault.Conflict if the stored
	// revision differs.
	SaveErasure(ctx context.Context, e Erasure) error

	// Exports returns the IDs of the exports of a connection.
	Exports(ctx context.Context, tenant org.Tenant, connectionID string) ([]string, error)
	// TokenRows returns the number of a connection's rows in the Tokens table.
	TokenRows(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// RemoveConnection removes a connection and its tokens in one transaction. It returns fault.Conflict if the
	// connection has been authorized again. TEFCA attempts that began before the time now can't recreate the
	// connection.
	RemoveConnection(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
	// RemoveExports removes a connection's exports, their index rows and the pointer to the latest export.
	RemoveExports(ctx context.Context, tenant org.Tenant, connectionID string, tasks []string) error

	// store.EventLog implements EventsAfter; store.DeliveryLog implements DeliveriesBefore.
	EventsAfter(ctx context.Context, last webhook.Event, before time.Time, limit int) ([]webhook.Event, bool, error)
	DeliveriesBefore(ctx context.Context, tenant org.Tenant, before deliverylog.Place, from time.Time,
		limit int) ([]deliverylog.Place, bool, error)
	Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error)
	// FanOut marks an event as fanned out so that it is never delivered. It returns fault.Conflict if the event is
	// already marked.
	FanOut(ctx context.Context, event webhook.Event, deliveries []webhook.Delivery) error
	// CountAttempts returns the number of attempts at a delivery.
	CountAttempts(ctx context.Context, tenant org.Tenant, deliveryID string) (int64, error)
	// RemoveDelivery removes a delivery and its attempts. RemoveEvent removes an event.
	RemoveDelivery(ctx context.Context, tenant org.Tenant, id string) error
	RemoveEvent(ctx context.Context, tenant org.Tenant, id string) error

	// InquiriesBefore returns the keys of a tenant's inquiries, newest first. A key consists of the creation time, a #
	// and the ID.
	InquiriesBefore(ctx context.Context, tenant org.Tenant, before string, limit int) ([]string, bool, error)
	// Inquiry reads an inquiry. It returns fault.NotFound if the inquiry does not exist.
	Inquiry(ctx context.Context, tenant org.Tenant, id string) (inquiry.Inquiry, error)
	RemoveInquiry(ctx context.Context, tenant org.Tenant, id string) error
}

// Files lists and deletes objects in a bucket. blob.Folders implements it.
type Files interface {
	List(ctx context.Context, prefix string) ([]string, error)
	Delete(ctx context.Context, key string) error
}

// Disconnector ends connections. disconnect.Disconnector implements it.
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Audit records completed erasures. audit.Log implements it.
type Audit interface {
	Append(ctx context.Context, row audit.Row) error
	Has(ctx context.Context, orgID, id string, since time.Time) (bool, error)
}

// Worker erases connections stage by stage.
type Worker struct {
	Store        Store
	Files        Files // files created by exports
	Records      Files // cached records of TEFCA connections
	Disconnector Disconnector
	Audit        Audit
	Now          func() time.Time
}

// Run advances every due erasure as far as possible before the deadline of ctx. One erasure's failure does not affect
// the others.
func (w Worker) Run(ctx context.Context) error {
	found, err := w.Store.DueErasures(ctx, w.Now())
	if err != nil {
		return fmt.Errorf("look for erasures: %w", err)
	}
	var failures []error
	done := 0
	for _, one := range found {
		if w.steps().IsLate(ctx) {
			break
		}
		e, err := w.erase(ctx, one.Tenant, one.ID)
		if err != nil {
			logx.Note(ctx, "eraser.erasure", logx.Failed(),
				slog.String("org_id", one.Tenant.OrgID), slog.String("mode", string(one.Tenant.Mode)),
				slog.String("erasure_id", one.ID), slog.String("stage", string(e.Stage)), slog.Any("cause", err))
			failures = append(failures, fmt.Errorf("erasure %s: %w", one.ID, err))
		} else if e.Stage == Done {
			done++
		}
	}
	logx.Add(ctx, slog.Int("due", len(found)), slog.Int("done", done), slog.Int("failed", len(failures)))
	return errors.Join(failures[:min(len(failures), 10)]...)
}

func (w Worker) steps() due.Steps[Erasure] {
	return due.Steps[Erasure]{
		DueAt:  func(e *Erasure) *time.Time { return &e.DueAt },
		IsOpen: func(e *Erasure) bool { return e.Stage != Done },
		Save:   w.save, Step: w.step, Margin: margin, Now: w.Now,
	}
}

// erase advances an erasure until it must wait.
func (w Worker) erase(ctx context.Context, tenant org.Tenant, id string) (Erasure, error) {
	e, err := w.Store.Erasure(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("read erasure: %w", err)
	}
	if err = w.steps().Run(ctx, &e); err != nil {
		return e, fmt.Errorf("stage %s: %w", e.Stage, err)
	}
	return e, nil
}

func (w Worker) save(ctx context.Context, e *Erasure) error {
	if err := w.Store.SaveErasure(ctx, *e); err != nil {
		return fmt.Errorf("save erasure: %w", err)
	}
	e.Rev++
	return nil
}

// step performs an idempotent part of a stage and returns the delay before the next step. The caller must then save e.
func (w Worker) step(ctx context.Context, e *Erasure) (time.Duration, error) {
	switch e.Stage {
	case Finding:
		e.Stage = Ending
		return 0, w.find(ctx, e)
	case Ending:
		return w.end(ctx, e)
	case Confirming:
		e.Stage = Removing
		return 0, w.find(ctx, e)
	case Removing:
		return w.remove(ctx, e)
	case Events:
		return 0, w.findEvents(ctx, e)
	case Deliveries:
		return 0, w.findDeliveries(ctx, e)
	case Inquiries:
		return 0, w.findInquiries(ctx, e)
	case Clearing:
		return w.clear(ctx, e)
	case Looking:
		return w.look(ctx, e)
	case Done:
	}
	return 0, nil
}

// end disconnects the connection and waits for the portal's response to the revocation request.
func (w Worker) end(ctx context.Context, e *Erasure) (time.Duration, error) {
	c, err := w.Disconnector.Disconnect(ctx, e.Tenant, e.ConnectionID)
	switch {
	case errors.Is(err, fault.NotFound):
		e.Stage = Confirming
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("disconnect: %w", err)
	}
	if _, err = w.removeFiles(ctx, e); err != nil {
		return 0, err
	}
	switch {
	case !c.Refresh.UpstreamUntil.IsZero() && w.Now().Before(e.RequestedAt.Add(portalTime)):
		e.Portal = Asked // overwritten if the portal doesn't respond in time
		return askAgain, nil
	case !c.Refresh.UpstreamUntil.IsZero():
		e.Portal = Unanswered
	case e.Portal == "":
		e.Portal = NothingToRevoke
	}
	e.Stage = Confirming
	return 0, nil
}

// find records the data to remove, because it can't be determined once the connection is removed.
func (w Worker) find(ctx context.Context, e *Erasure) error {
	tasks, err := w.Store.Exports(ctx, e.Tenant, e.ConnectionID)
	if err != nil {
		return fmt.Errorf("find exports: %w", err)
	}
	for _, task := range tasks {
		if slices.Contains(e.Tasks, task) {
			continue
		}
		e.Tasks = append(e.Tasks, task)
		e.Counts.Exports++
		keys, failure := w.Files.List(ctx, folder(e.Tenant, task))
		if failure != nil {
			return fmt.Errorf("list files: %w", failure)
		}
		e.Counts.Files += int64(len(keys))
	}
	cached, err := w.Records.List(ctx, folder(e.Tenant, e.ConnectionID))
	if err != nil {
		return fmt.Errorf("list cached records: %w", err)
	}
	e.Counts.Files += int64(len(cached))
	held, err := w.Store.TokenRows(ctx, e.Tenant, e.ConnectionID)
	if err != nil {
		return fmt.Errorf("find tokens: %w", err)
	}
	e.Counts.Tokens, e.Counts.Connections = max(e.Counts.Tokens, held), 1
	return nil
}

// remove removes everything that could produce new data. If the patient has reconnected, the worker must first
// disconnect the connection again.
func (w Worker) remove(ctx context.Context, e *Erasure) (time.Duration, error) {
	err := w.Store.RemoveConnection(ctx, e.Tenant, e.ConnectionID, w.Now())
	if errors.Is(err, fault.Conflict) {
		e.Stage = Ending
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove connection: %w", err)
	}
	if err = w.Store.RemoveExports(ctx, e.Tenant, e.ConnectionID, e.Tasks); err != nil {
		return 0, fmt.Errorf("remove exports: %w", err)
	}
	if _, err = w.removeFiles(ctx, e); err != nil {
		return 0, err
	}
	e.Stage, e.At = Events, Place{MadeAt: e.Since}
	return indexTime, nil
}

// removeFiles removes the objects of the connection's exports and its cached records. It returns the number of removed
// objects.
func (w Worker) removeFiles(ctx context.Context, e *Erasure) (int64, error) {
	count, err := removeFolder(ctx, w.Records, folder(e.Tenant, e.ConnectionID))
	for _, task := range e.Tasks {
		if err != nil {
			break
		}
		var removed int64
		removed, err = removeFolder(ctx, w.Files, folder(e.Tenant, task))
		count += removed
	}
	return count, err
}

func removeFolder(ctx context.Context, files Files, prefix string) (count int64, err error) {
	keys, err := files.List(ctx, prefix)
	if err != nil {
		return 0, fmt.Errorf("list files: %w", err)
	}
	for _, key := range keys {
		if err := files.Delete(ctx, key); err != nil {
			return count, fmt.Errorf("delete file: %w", err)
		}
		count++
	}
	return count, nil
}

// folder returns the prefix of the objects that belong to an export (export.Task) or a connection (package
// tefca/records).
func folder(tenant org.Tenant, id string) string {
	return string(tenant.Mode) + "/" + tenant.OrgID + "/" + id + "/"
}
