// Package getconnection serves GET /bridge/org_connection/{orgConnectionId} (docs/openapi.yaml), which returns the
// status of a connection. The organisation's backend calls this endpoint with its private key. The endpoint is
// read-only.
package getconnection

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/connection/view"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/org_connection/{orgConnectionId}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API         *httpapi.API
	Auth        httpapi.KeyAuth
	Connections Connections
}

// Connections reads connections. It returns fault.NotFound for nonexistent connections.
type Connections interface {
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

type request struct {
	ID string `path:"orgConnectionId"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{
		// The deleteconnection function handles DELETE.
		http.MethodGet: httpapi.Keyed(d.Auth, d.get), http.MethodDelete: httpapi.Elsewhere(),
	})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (view.Connection, error) {
	id, ok := ids.ParseUUID(in.ID)
	if !ok {
		return view.Connection{}, connection.Missing()
	}
	logx.Add(ctx, slog.String("connection_id", id))
	c, err := d.Connections.Connection(ctx, caller.Tenant, id)
	if errors.Is(err, fault.NotFound) {
		return view.Connection{}, connection.Missing()
	}
	if err != nil {
		return view.Connection{}, err
	}
	return view.Of(c), nil
}
