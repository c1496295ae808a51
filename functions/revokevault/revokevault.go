// Package revokevault serves POST /bridge/vault_connection/revoke (docs/openapi.yaml), an endpoint for testing. It
// disconnects all active connections of a synthetic TEFCA patient, as DELETE /bridge/org_connection/{orgConnectionId}
// does for a single connection. The organisation's backend calls this endpoint with a test-mode key. The request is
// idempotent.
package revokevault

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/vault_connection/revoke"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.KeyAuth
	Revoker Revoker
}

// Revoker ends a synthetic patient's connections and returns their IDs; attempt.Revoker implements it.
type Revoker interface {
	Revoke(ctx context.Context, tenant org.Tenant, email string) ([]string, error)
}

type request struct {
	Email string `json:"email" required:"true"`
}

type response struct {
	RequestID string   `json:"request_id"`
	Revoked   []string `json:"revoked"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Keyed(d.Auth, d.post)})
}

func (d Deps) post(ctx context.Context, caller org.Caller, in request) (response, error) {
	revoked, err := d.Revoker.Revoke(ctx, caller.Tenant, in.Email)
	if err != nil {
		return response{}, err
	}
	return response{RequestID: logx.RequestID(ctx), Revoked: revoked}, nil
}
