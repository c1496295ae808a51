// Package getexport serves GET /bridge/fhir/ehi-export/{taskId}, which returns the status of an export. The
// organisation's backend calls this endpoint with its private key. The endpoint is read-only. The query ?include=result
// adds the contents of the webhook, for developers without a public URL. The query ?include=progress adds a running
// export's progress (docs/reference/deviations.md, "Exports").
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

// Route is the endpoint's path.
const Route = "/bridge/fhir/ehi-export/{taskId}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.KeyAuth
	Tasks Tasks
	Links Links
	Now   func() time.Time
}

// Tasks reads tasks. It returns fault.NotFound for nonexistent tasks.
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
}

// Links creates download links; export.Links implements it.
type Links interface {
	List(task export.Task) ([]webhook.DownloadLink, error)
	// Manifest returns nil if the task has no manifest.
	Manifest(task export.Task) (*webhook.ManifestLink, error)
}

type request struct {
	TaskID  string `path:"taskId"`
	Include string `query:"include"`
}

type response struct {
	TaskID string        `json:"task_id"`
	Status export.Status `json:"status"`

	// The following fields are extensions that appear only with ?include=result.
	FailureReason     export.Reason          `json:"failure_reason,omitempty"`
	Stats             *webhook.Stats         `json:"stats,omitempty"`
	DownloadLinks     []webhook.DownloadLink `json:"download_links,omitempty"`
	Files             []export.FileSummary   `json:"files,omitempty"`
	Manifest          *webhook.ManifestLink  `json:"manifest,omitempty"`
	Scope             *export.Scope          `json:"scope,omitempty"`
	Outcome           []export.TypeOutcome   `json:"outcome,omitempty"`
	webhook.Shortfall                        //nolint:embeddedstructfieldcheck // members are sent in this order

	// Progress is an extension that appears only with ?include=progress.
	Progress *webhook.Progress `json:"progress,omitempty"`
}

// New returns the endpoint's handler.
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

// withResult adds the webhook's contents, omitting links to deleted files.
func (d Deps) withResult(out response, task export.Task) (response, error) {
	out.FailureReason, out.Outcome = task.FailureReason, task.Outcome
	if task.Status != export.Success {
		return out, nil
	}
	out.Stats, out.Scope, out.Shortfall = &task.Stats, &task.Scope, task.Shortfall()
	if !d.Now().Before(task.FilesUntil) {
		return out, nil
	}
	var err error
	if out.DownloadLinks, err = d.Links.List(task); err != nil {
		return response{}, err
	}
	out.Files = task.Summaries()
	out.Manifest, err = d.Links.Manifest(task)
	return out, err
}
