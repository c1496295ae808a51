// Package createexport serves POST /bridge/fhir/ehi-export, which requests a bulk export of a connection's record. The
// organisation's backend authenticates with its private key. The request is idempotent per connection: it returns the
// connection's pending export or a recent successful export, if either exists (docs/reference/deviations.md,
// "Exports").
package createexport

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/fhir/ehi-export"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.KeyAuth
	Exports Registrar
	Now     func() time.Time
}

// Registrar returns a connection's existing export or creates one; export.Registrar implements it.
type Registrar interface {
	Register(ctx context.Context, tenant org.Tenant, connectionID string, options export.Options,
		refresh bool) (export.Task, error)
}

type request struct {
	ConnectionID string          `json:"org_connection_id" required:"true"`
	Fixtures     json.RawMessage `json:"fixtures"`

	// The following fields are extensions to the API.
	Refresh       bool     `json:"refresh"`
	Since         string   `json:"since"`
	ResourceTypes []string `json:"resource_types"`
	Formats       []string `json:"formats"`
}

type response struct {
	TaskID string        `json:"task_id"`
	Status export.Status `json:"status"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Keyed(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	id, ok := ids.ParseUUID(in.ConnectionID)
	if !ok {
		return response{}, connection.Missing()
	}
	logx.Add(ctx, slog.String("connection_id", id))
	options, err := export.ParseOptions(in.Since, in.ResourceTypes, in.Formats, d.Now())
	if err != nil {
		return response{}, err
	}
	if options.Fixture, err = fixture(caller.Tenant.Mode, in.Fixtures); err != nil {
		return response{}, err
	}
	task, err := d.Exports.Register(ctx, caller.Tenant, id, options, in.Refresh)
	if err != nil {
		return response{}, err
	}
	logx.Add(ctx, slog.String("task_id", task.ID))
	return response{TaskID: task.ID, Status: task.Status}, nil
}

// fixture returns the name of the requested synthetic record, or "" if the request names none. Unlike elsewhere in the
// request, unknown members are errors, so that no client mistakes the wrong synthetic record for the patient's.
func fixture(mode org.Mode, sent json.RawMessage) (string, error) {
	if len(sent) == 0 || string(sent) == "null" {
		return "", nil
	}
	var named map[string]json.RawMessage
	var name string
	if json.Unmarshal(sent, &named) == nil && len(named) == 0 { // tefca_ccda is optional
		return "", nil
	}
	if len(named) != 1 || json.Unmarshal(named["tefca_ccda"], &name) != nil {
		return "",
			fault.BadRequest("fixtures must be an object whose only member is tefca_ccda, a string.").About("fixtures")
	}
	return export.ParseFixture(mode, name)
}
