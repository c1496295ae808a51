// Package deleteconnection serves DELETE /bridge/org_connection/{orgConnectionId}, an extension of the contract
// (docs/reference/deviations.md). An organisation's backend calls this endpoint with its private key to disconnect a
// connection. The response has the same format as the GET response. The connection's new status is revoked, unless the
// patient had already rejected the connection. The request is idempotent.
package deleteconnection

import (
	"context"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/connection/view"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/org_connection/{orgConnectionId}"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API          *httpapi.API
	Auth         httpapi.KeyAuth
	Disconnector Disconnector
}

// Disconnector ends connections and returns their new state; disconnect.Disconnector implements it.
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

type request struct {
	ID string `path:"orgConnectionId"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodDelete: httpapi.Keyed(d.Auth, d.remove)})
}

func (d Deps) remove(ctx context.Context, caller org.Caller, in request) (view.Connection, error) {
	id, ok := ids.ParseUUID(in.ID)
	if !ok {
		return view.Connection{}, connection.Missing()
	}
	logx.Add(ctx, slog.String("connection_id", id))
	c, err := d.Disconnector.Disconnect(ctx, caller.Tenant, id)
	if err != nil {
		return view.Connection{}, err
	}
	return view.Of(c), nil
}
