// Package getexport serves GET /bridge/fhir/ehi-export/{taskId} (spec section 4.3): how an export stands. Called by
// the organisation's backend with its key; it changes nothing. ?include=result adds what the webhook tells, for
// developers without a public URL (decisions section 3).
package getexport

import (
	"context"
	"errors"
	"net/http"

	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

// Route is the declared path.
const Route = "/bridge/fhir/ehi-export/{taskId}"

// Deps are what the endpoint works with.
type Deps struct {
	API   *httpapi.API
	Auth  httpapi.KeyAuth
	Tasks Tasks
	Links Links
}

// Tasks reads tasks; fault.NotFound.
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
}

// Links mints download URLs (export.Links).
type Links interface {
	URL(task export.Task) (string, error)
}

type request struct {
	TaskID  string `path:"taskId"`
	Include string `query:"include"`
}

type response struct {
	TaskID string        `json:"task_id"`
	Status export.Status `json:"status"`

	// Extensions, only with ?include=result.
	FailureReason export.Reason          `json:"failure_reason,omitempty"`
	Stats         *webhook.Stats         `json:"stats,omitempty"`
	DownloadLinks []webhook.DownloadLink `json:"download_links,omitempty"`
	Outcome       []export.TypeOutcome   `json:"outcome,omitempty"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (response, error) {
	if in.Include != "" && in.Include != "result" {
		return response{}, fault.BadRequest("include can only be result.")
	}
	id, ok := ids.ParseTask(in.TaskID)
	if !ok {
		return response{}, export.Missing()
	}
	task, err := d.Tasks.Task(ctx, caller.Tenant, id)
	if errors.Is(err, fault.NotFound) {
		return response{}, export.Missing()
	}
	if err != nil {
		return response{}, err
	}
	out := response{TaskID: task.ID, Status: task.Status}
	if in.Include != "result" {
		return out, nil
	}
	return d.withResult(out, task)
}

// withResult adds what the webhook tells.
func (d Deps) withResult(out response, task export.Task) (response, error) {
	out.FailureReason, out.Outcome = task.FailureReason, task.Outcome
	if task.Status != export.Success {
		return out, nil
	}
	address, err := d.Links.URL(task)
	if err != nil {
		return response{}, err
	}
	out.Stats = &task.Stats
	out.DownloadLinks = []webhook.DownloadLink{{URL: address, ExportType: export.ExportType, ContentType: export.ContentType}}
	return out, nil
}
