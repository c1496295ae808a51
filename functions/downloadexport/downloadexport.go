// Package downloadexport serves GET /bridge/fhir/ehi-export/{taskId}/download/{fileName}, which redirects to the file.
// The download URL in the event contains a token, so a client only needs to follow the redirect. Requests may contain
// any Authorization header. The owning organisation's private key is accepted instead of the token
// (docs/reference/deviations.md, "Exports"). The endpoint is read-only.
package downloadexport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/fhir/ehi-export/{taskId}/download/{fileName}"

// addressLife is the lifetime of a file's signed URL (docs/reference/deviations.md, "Exports").
const addressLife = 10 * time.Minute

// Deps holds the endpoint's dependencies.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.KeyAuth
	Tasks     Tasks
	Links     Links
	Downloads Downloads
	Now       func() time.Time
}

// Tasks reads tasks. It returns fault.NotFound for nonexistent tasks.
type Tasks interface {
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
}

// Links verifies download tokens; export.Links implements it.
type Links interface {
	Tenant(token, taskID, fileName string, now time.Time) (org.Tenant, error)
}

// Downloads creates signed URLs for files; blob.Downloads implements it.
type Downloads interface {
	Address(ctx context.Context, method, key, fileName, contentType string, life time.Duration) (string, error)
}

type request struct {
	TaskID   string `path:"taskId"`
	FileName string `path:"fileName"`
	Token    string `query:"token"`
}

// New returns the endpoint's handler. GET and HEAD redirect to different URLs, because an S3 signature is valid for
// only one HTTP method.
func New(d Deps) http.Handler {
	methods := httpapi.Methods{}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		methods[method] = httpapi.KeyOptional(d.Auth,
			func(ctx context.Context, key httpapi.OptionalKey, in request) (httpapi.RedirectResult, error) {
				return d.find(ctx, method, key, in)
			})
	}
	return d.API.Serve(Route, methods)
}

func (d Deps) find(
	ctx context.Context, method string, key httpapi.OptionalKey, in request,
) (httpapi.RedirectResult, error) {
	id, ok := ids.ParseTask(in.TaskID)
	if !ok {
		return httpapi.RedirectResult{}, export.Missing()
	}
	logx.Add(ctx, slog.String("task_id", id))
	tenant, err := d.tenant(key, id, in)
	if err != nil {
		return httpapi.RedirectResult{}, err
	}
	task, err := d.Tasks.Task(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return httpapi.RedirectResult{}, export.Missing()
	}
	if err != nil {
		return httpapi.RedirectResult{}, err
	}
	file, err := task.Downloadable(in.FileName, d.Now())
	if err != nil {
		return httpapi.RedirectResult{}, err
	}
	address, err := d.Downloads.Address(ctx, method, file.Key, file.Name, file.ContentType, addressLife)
	return httpapi.RedirectResult{Location: address}, err
}

// tenant returns the tenant that owns the file. A valid token determines the tenant; without a token, the key
// determines it.
func (d Deps) tenant(key httpapi.OptionalKey, taskID string, in request) (org.Tenant, error) {
	refused := key.Refused
	if in.Token != "" {
		tenant, err := d.Links.Tenant(in.Token, taskID, in.FileName, d.Now())
		if err == nil {
			return tenant, nil
		}
		refused = err
	}
	switch {
	case key.Caller != nil:
		return key.Caller.Tenant, nil
	case refused != nil:
		return org.Tenant{}, refused
	}
	return org.Tenant{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient,
		"Use the complete download link, including its token, or authenticate with the organisation's public ID and "+
			"private key.")
}
