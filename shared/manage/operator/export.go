package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Exports lists and shows the exports of connections. Exports is read-only and reveals neither health records nor
// download links.
type Exports struct {
	service     connectionNames
	connections ConnectionReader
	rows        ExportRows
	tasks       exportReader
	log         DeliverySearch
	now         func() time.Time
}

// TaskLister lists export tasks from an eventually consistent index.
type TaskLister interface {
	// TasksBefore returns the cursors of the tenant's tasks that follow a cursor, newest first, and reports whether
	// more tasks follow. A cursor consists of a row's creation time and ID, separated by a #. An empty cursor starts at
	// the newest task.
	TasksBefore(ctx context.Context, tenant org.Tenant, before string, limit int) (found []string, more bool, err error)
}

// ExportRows lists and reads export tasks.
type ExportRows interface {
	TaskLister
	ExportTasks
}

// ExportTasks reads connections' export tasks.
type ExportTasks interface {
	// InspectTask returns a task's readable fields, the time at which the task is next due, and the names of its
	// damaged fields. It returns fault.NotFound if the task does not exist.
	InspectTask(ctx context.Context, tenant org.Tenant, id string) (task export.Task, dueAt time.Time,
		damaged []fault.Spot, err error)
	// LatestTask returns the ID of the latest task of a connection. It returns fault.NotFound if the connection has no
	// tasks.
	LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error)
}

// Export holds an export's details for an operator.
type Export struct {
	export.Task

	NextAt time.Time // next start time of a pending export that is neither queued nor running; zero for other exports
	// locations of unreadable values in the export's row or its webhooks' rows
	Damaged    []fault.Spot
	EventID    string // ID of the event that reported the export's end; empty while pending
	Deliveries []deliverylog.Entry
	Blame      Blame  // party responsible for the failure or gaps; like Deliveries, set only by Show
	Do         string // recommended action with its ctl command; set only by Show
}

// ExportQuery selects the exports that match all of its non-empty fields.
type ExportQuery struct {
	Paging

	ConnectionID string
	Status       export.Status
}

// ExportPage is one page of a list of exports. Next has the same meaning as in ConnectionPage.
type ExportPage struct {
	Exports []Export
	Next    string
}

// NewExports returns an Exports with the given dependencies.
func NewExports(
	service connectionNames, connections ConnectionReader, rows ExportRows, log DeliverySearch, now func() time.Time,
) Exports {
	return Exports{service: service, connections: connections, rows: rows, tasks: exportReader{rows}, log: log, now: now}
}

// List returns a tenant's exports, newest first. To list a single connection's exports, List follows the links between
// its tasks. It returns fault.Invalid or fault.NotFound on failure.
func (o Exports) List(ctx context.Context, tenant org.Tenant, q ExportQuery) (ExportPage, error) {
	p, err := q.checked()
	if err != nil {
		return ExportPage{}, err
	}
	switch q.Status {
	case "", export.Pending, export.Success, export.Failed:
	default:
		return ExportPage{}, fault.BadRequest("The status must be pending, success or failed.").About("status")
	}
	if _, err = findOrganisation(ctx, o.service, tenant); err != nil {
		return ExportPage{}, err
	}
	list := func(after string, limit int) ([]string, bool, error) {
		return o.rows.TasksBefore(ctx, tenant, after, limit)
	}
	if q.ConnectionID != "" {
		var of Connection
		if of, err = findConnection(ctx, o.service, o.connections, tenant, q.ConnectionID); err != nil {
			return ExportPage{}, err
		}
		list = func(after string, _ int) ([]string, bool, error) { return o.tasks.before(ctx, tenant, of.ID, after) }
	}
	var page ExportPage
	page.Exports, page.Next, err = collect(p, list, func(id string) (e Export, isWanted bool, err error) {
		e, err = o.tasks.inspect(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) {
			return e, false, nil
		}
		return e, q.Status == "" || e.Status == q.Status, err
	})
	if err != nil {
		return ExportPage{}, fmt.Errorf("list exports: %w", err)
	}
	return page, nil
}

// Show returns an export with the deliveries that report its end. It returns fault.NotFound if the export does not
// exist.
func (o Exports) Show(ctx context.Context, tenant org.Tenant, id string) (Export, error) {
	missing := fault.Missing(fmt.Sprintf("Export %q not found for %s.", id, ownerName(tenant))).About("task")
	parsed, ok := ids.ParseTask(id)
	if !ok {
		return Export{}, missing
	}
	e, err := o.tasks.inspect(ctx, tenant, parsed)
	if errors.Is(err, fault.NotFound) {
		return Export{}, missing
	}
	if err != nil {
		return Export{}, err
	}
	if e.EventID != "" {
		told, failure := o.log.Search(ctx, tenant, deliverylog.Query{ID: e.EventID})
		if at := fault.SpotOf(failure); at.Row != "" {
			e.Damaged = append(e.Damaged, at)
		} else if failure != nil {
			return Export{}, fmt.Errorf("search deliveries: %w", failure)
		}
		e.Deliveries = told.Entries
	}
	c, err := readConnection(ctx, o.service, o.connections, tenant, e.ConnectionID, map[string]string{})
	if err != nil && !errors.Is(err, fault.NotFound) {
		return Export{}, err
	}
	e.Blame, e.Do = blame(e, c), adviseExport(e, c, o.now())
	return e, nil
}

type exportReader struct{ rows ExportTasks }

func (r exportReader) latest(ctx context.Context, tenant org.Tenant, connectionID string) ([]Export, error) {
	rows, _, err := collect(Paging{Limit: latestExports}, func(after string, _ int) ([]string, bool, error) {
		return r.before(ctx, tenant, connectionID, after)
	}, func(id string) (Export, bool, error) {
		e, err := r.inspect(ctx, tenant, id)
		return e, err == nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("list exports: %w", err)
	}
	return rows, nil
}

// before returns the cursor of the task that precedes the task at the cursor place. If place is empty, before returns
// the cursor of the connection's latest task. The row of each task names the preceding task.
func (r exportReader) before(
	ctx context.Context, tenant org.Tenant, connectionID, place string,
) (found []string, more bool, err error) {
	_, id, isBehind := strings.Cut(place, "#")
	if isBehind {
		id, err = r.previous(ctx, tenant, connectionID, id)
	} else {
		id, err = r.rows.LatestTask(ctx, tenant, connectionID)
	}
	if errors.Is(err, fault.NotFound) || err == nil && id == "" {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	task, _, _, err := r.rows.InspectTask(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) { // Tasks expire after 90 days, so this task and all earlier ones are gone.
		return nil, false, nil
	}
	return []string{placeOf(task.CreatedAt, id)}, task.Previous != "", err
}

func (r exportReader) previous(ctx context.Context, tenant org.Tenant, connectionID, id string) (string, error) {
	task, _, _, err := r.rows.InspectTask(ctx, tenant, id)
	if err == nil && task.ConnectionID != "" && task.ConnectionID != connectionID {
		return "", fault.BadRequest("The cursor belongs to another connection's list.").About("after")
	}
	return task.Previous, err
}

func (r exportReader) inspect(ctx context.Context, tenant org.Tenant, id string) (Export, error) {
	task, dueAt, damaged, err := r.rows.InspectTask(ctx, tenant, id)
	if err != nil {
		return Export{}, fmt.Errorf("read export: %w", err)
	}
	e := Export{Task: task, Damaged: damaged}
	switch {
	case task.Deferred:
		e.NextAt = task.LeaseUntil
	case task.Status == export.Pending && task.LeaseUntil.IsZero() && task.WaitingSince.IsZero():
		e.NextAt = dueAt
	case task.Status == export.Success:
		e.EventID = webhook.EventID(tenant, webhook.ExportSucceeded, id, task.Resends)
	case task.Status == export.Failed:
		e.EventID = webhook.EventID(tenant, webhook.ExportFailed, id, 0)
	}
	return e, nil
}
