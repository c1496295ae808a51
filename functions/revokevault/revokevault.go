// Package revokevault serves POST /bridge/vault_connection/revoke (docs/openapi.yaml), a help for tests: all current
// connections of a synthetic patient of TEFCA mode are disconnected, as DELETE /bridge/org_connection/{orgConnectionId}
// does. Called by the organisation's backend with a key of test mode; it may be repeated.
package revokevault

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Route is the declared path.
const Route = "/bridge/vault_connection/revoke"

// Deps are what the endpoint works with.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.KeyAuth
	Revoker Revoker
}

// Revoker ends the connections of a synthetic patient and returns their ids (attempt.Revoker).
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

// New returns the endpoint.
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
