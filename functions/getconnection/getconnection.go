// Package getconnection serves GET /bridge/org_connection/{orgConnectionId} (docs/openapi.yaml): how a connection
// stands. Called by the organisation's backend with its key; it changes nothing.
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

// Route is the declared path.
const Route = "/bridge/org_connection/{orgConnectionId}"

// Deps are what the endpoint works with.
type Deps struct {
	API         *httpapi.API
	Auth        httpapi.KeyAuth
	Connections Connections
}

// Connections reads connections; fault.NotFound.
type Connections interface {
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

type request struct {
	ID string `path:"orgConnectionId"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{
		http.MethodGet: httpapi.Keyed(d.Auth, d.get), http.MethodDelete: httpapi.Elsewhere(), // deleteconnection
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
