package deleteconnection_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"recordbridge/functions/deleteconnection"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	known  = "c0000000-0000-4000-8000-00000000000a" // organisation A's connection in test mode
	broken = "c0000000-0000-4000-8000-00000000000c"
	busy   = "c0000000-0000-4000-8000-00000000000d"
	route  = "/bridge/org_connection/"
)

type disconnector struct{}

func (disconnector) Disconnect(_ context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	switch {
	case tenant != keyedtest.Tenants()[keyedtest.PublicA]:
		return connection.Connection{}, connection.Missing()
	case id == known:
		return connection.Connection{
			ID: id, Tenant: tenant, Status: connection.Revoked, BrandID: "brand", PortalID: "portal", EndpointID: "endpoint",
			PlatformType: "sandbox", Scope: "patient/*.read", Refresh: connection.RefreshState{Ended: "disconnected"},
		}, nil
	case id == broken:
		return connection.Connection{Status: connection.Authorized}, keyedtest.ErrTrouble
	case id == busy:
		return connection.Connection{}, fault.Stale()
	}
	return connection.Connection{}, connection.Missing()
}

func newHandler() http.Handler {
	return deleteconnection.New(deleteconnection.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}}, Disconnector: disconnector{},
	})
}

func TestDeleteConnectionReturnsConnectionOrError(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Connection not found.")
	revoked := `{"success":true,"data":{"kind":"portal","org_connection_id":"` + known +
		`","org_id":"a0000000-0000-4000-8000-000000000001",` +
		`"catalog_brand_id":"brand","catalog_portal_id":"portal","catalog_endpoint_id":"endpoint",` +
		`"platform_type":"sandbox",` +
		`"api_mode":"test","status":"revoked","scope":"patient/*.read"}}`
	for name, e := range map[string]keyedtest.Exchange{
		"the record":           {Path: known, Status: 200, Want: revoked},
		"in upper case":        {Path: strings.ToUpper(known), Status: 200, Want: revoked},
		"unknown":              {Path: "c0000000-0000-4000-8000-0000000000ff", Status: 404, Want: missing},
		"no UUID":              {Path: "connection-1", Status: 404, Want: missing},
		"another organisation": {Path: known, User: keyedtest.PublicB, Status: 404, Want: missing},
		"the other mode":       {Path: known, User: keyedtest.LiveA, Status: 404, Want: missing},
		"our own failure":      {Path: broken, Status: 500, Want: keyedtest.ServerError},
		"a race that is lost": {
			Path: busy, Status: 503,
			Want: keyedtest.FailureBody("svc_unavailable", "The record changed at the same time. Please try again."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method, e.Path = http.MethodDelete, route+e.Path
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, deleteconnection.Route, newHandler())
		})
	}
}

func TestDeleteConnectionRequiresKey(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]keyedtest.Exchange{
		"no key":      {},
		"a wrong key": {User: keyedtest.PublicA, Key: "other"},
		"a stranger":  {User: "public_test_x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method, e.Path, e.Status, e.Want = http.MethodDelete, route+known, 401, keyedtest.Unauthorized
			e.Check(t, deleteconnection.Route, newHandler())
		})
	}
}
