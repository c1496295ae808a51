// Package getexport serves GET /bridge/fhir/ehi-export/{taskId}: how an export stands. Called by
// the organisation's backend with its key; it changes nothing. ?include=result adds what the webhook tells, for
// developers without a public URL, ?include=progress how far a running export is (docs/reference/deviations.md, "Exports").
package getexport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the declared path.
const Route = "/bridge/fhir/ehi-export/{taskId}"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.KeyAuth
	Tasks Tasks
	Links Links
	Now   func() time.Time
}

// Tasks reads tasks; fault.NotFound.
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
}

// Links mints download links (export.Links).
type Links interface {
	List(task export.Task) ([]webhook.DownloadLink, error)
}

type request struct {
	TaskID  string `path:"taskId"`
	Include string `query:"include"`
}

type response struct {
	TaskID string        `json:"task_id"`
	Status export.Status `json:"status"`

	// Extensions, only with ?include=result.
	FailureReason     export.Reason          `json:"failure_reason,omitempty"`
	Stats             *webhook.Stats         `json:"stats,omitempty"`
	DownloadLinks     []webhook.DownloadLink `json:"download_links,omitempty"`
	Files             []export.FileSummary   `json:"files,omitempty"`
	Scope             *export.Scope          `json:"scope,omitempty"`
	Outcome           []export.TypeOutcome   `json:"outcome,omitempty"`
	webhook.Shortfall                        //nolint:embeddedstructfieldcheck // members are sent in this order

	// Extension, only with ?include=progress.
	Progress *webhook.Progress `json:"progress,omitempty"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (response, error) {
	if in.Include != "" && in.Include != "result" && in.Include != "progress" {
		return response{}, fault.BadRequest("include must be result or progress.").About("include")
	}
	id, ok := ids.ParseTask(in.TaskID)
	if !ok {
		return response{}, export.Missing()
	}
	logx.Add(ctx, slog.String("task_id", id))
	task, err := d.Tasks.Task(ctx, caller.Tenant, id)
	if errors.Is(err, fault.NotFound) {
		return response{}, export.Missing()
	}
	if err != nil {
		return response{}, err
	}
	out := response{TaskID: task.ID, Status: task.Status}
	switch in.Include {
	case "result":
		return d.withResult(out, task)
	case "progress":
		out.Progress = &task.Progress
	}
	return out, nil
}

// withResult adds what the webhook tells. Links to files that have been deleted would only be links to an error.
func (d Deps) withResult(out response, task export.Task) (response, error) {
	out.FailureReason, out.Outcome = task.FailureReason, task.Outcome
	if task.Status != export.Success {
		return out, nil
	}
	out.Stats, out.Scope, out.Shortfall = &task.Stats, &task.Scope, task.Shortfall()
	if !d.Now().Before(task.FilesUntil) {
		return out, nil
	}
	links, err := d.Links.List(task)
	out.DownloadLinks, out.Files = links, task.Summaries()
	return out, err
}
