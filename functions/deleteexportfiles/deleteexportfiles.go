// Package deleteexportfiles serves DELETE /bridge/fhir/ehi-export/{taskId}/files, an extension of the contract
// (docs/reference/deviations.md, "Exports"). An organisation's backend calls this endpoint with its private key to
// delete an export's files before they expire. The response contains the task in the same format as the GET response.
// The request is idempotent.
package deleteexportfiles

import (
	"context"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/fhir/ehi-export/{taskId}/files"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.KeyAuth
	Deleter Deleter
}

// Deleter deletes a task's files and returns the task; export.Deleter implements it.
type Deleter interface {
	Delete(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
}

type request struct {
	TaskID string `path:"taskId"`
}

type response struct {
	TaskID string        `json:"task_id"`
	Status export.Status `json:"status"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodDelete: httpapi.Keyed(d.Auth, d.remove)})
}

func (d Deps) remove(ctx context.Context, caller org.Caller, in request) (response, error) {
	id, ok := ids.ParseTask(in.TaskID)
	if !ok {
		return response{}, export.Missing()
	}
	logx.Add(ctx, slog.String("task_id", id))
	task, err := d.Deleter.Delete(ctx, caller.Tenant, id)
	if err != nil {
		return response{}, err
	}
	return response{TaskID: task.ID, Status: task.Status}, nil
}
