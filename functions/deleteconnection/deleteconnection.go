// Package deleteconnection serves DELETE /bridge/org_connection/{orgConnectionId}, an extension of the contract
// (docs/reference/deviations.md): an organisation gives a connection up. Called by its backend with its key. It answers the
// record as GET does, then revoked unless the patient had rejected it, however often it is repeated.
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

// Route is the declared path.
const Route = "/bridge/org_connection/{orgConnectionId}"

// Deps are what the endpoint works with.
type Deps struct {
	API          *httpapi.API
	Auth         httpapi.KeyAuth
	Disconnector Disconnector
}

// Disconnector ends connections and returns them as they are then (disconnect.Disconnector).
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

type request struct {
	ID string `path:"orgConnectionId"`
}

// New returns the endpoint.
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
