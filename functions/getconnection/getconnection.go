// Package getconnection serves GET /bridge/org_connection/{orgConnectionId} (spec section 4.5): how a connection
// stands. Called by the organisation's backend with its key; it changes nothing.
package getconnection

import (
	"context"
	"errors"
	"net/http"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
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

// response is spec section 2.1.
type response struct {
	ID               string            `json:"org_connection_id"`
	OrgID            string            `json:"org_id"`
	BrandID          string            `json:"catalog_brand_id"`
	PortalID         string            `json:"catalog_portal_id"`
	EndpointID       string            `json:"catalog_endpoint_id"`
	PlatformType     string            `json:"platform_type"`
	APIMode          org.Mode          `json:"api_mode"`
	Status           connection.Status `json:"status"`
	Scope            string            `json:"scope,omitempty"`
	ConsentExpiresAt string            `json:"consent_expires_at,omitempty"`
}

// New returns the endpoint.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (response, error) {
	id, ok := ids.ParseUUID(in.ID)
	if !ok {
		return response{}, connection.Missing()
	}
	c, err := d.Connections.Connection(ctx, caller.Tenant, id)
	if errors.Is(err, fault.NotFound) {
		return response{}, connection.Missing()
	}
	if err != nil {
		return response{}, err
	}
	out := response{
		ID: c.ID, OrgID: c.Tenant.OrgID, BrandID: c.BrandID, PortalID: c.PortalID, EndpointID: c.EndpointID,
		PlatformType: c.PlatformType, APIMode: c.Tenant.Mode, Status: c.Status, Scope: c.Scope,
	}
	if !c.ConsentExpiresAt.IsZero() {
		out.ConsentExpiresAt = c.ConsentExpiresAt.UTC().Format(time.RFC3339)
	}
	return out, nil
}
