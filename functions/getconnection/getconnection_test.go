package getconnection_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/getconnection"
	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	whole  = "c0000000-0000-4000-8000-00000000000a"
	bare   = "c0000000-0000-4000-8000-00000000000b"
	broken = "c0000000-0000-4000-8000-00000000000c"
	route  = "/bridge/org_connection/"
)

// connections are those of organisation A in test mode.
type connections struct{}

func (connections) Connection(_ context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	c := connection.Connection{
		ID: id, Tenant: tenant, Status: connection.Rejected, BrandID: "brand", PortalID: "portal", EndpointID: "endpoint",
		PlatformType: "sandbox", Patient: secret.Mark{Version: 1, Sum: []byte("never shown")}, Generation: 4,
	}
	switch {
	case tenant != tenants()[publicA]:
		return connection.Connection{}, fault.Missing("no row")
	case id == whole:
		c.Status, c.Scope = connection.Authorized, "patient/*.read"
		c.ConsentExpiresAt = time.Date(2027, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
		return c, nil
	case id == bare:
		return c, nil
	case id == broken:
		return connection.Connection{}, errTrouble
	}
	return connection.Connection{}, fault.Missing("no row")
}

func newHandler() http.Handler {
	return getconnection.New(getconnection.Deps{API: newAPI(), Auth: httpapi.KeyAuth{Keys: keys{}}, Connections: connections{}})
}

func TestGetConnectionAnswers(t *testing.T) {
	t.Parallel()
	missing := failureBody("svc_not_found", "There is no such connection.")
	shown := func(id, rest string) string {
		return `{"success":true,"data":{"org_connection_id":"` + id + `","org_id":"a0000000-0000-4000-8000-000000000001",` +
			`"catalog_brand_id":"brand","catalog_portal_id":"portal","catalog_endpoint_id":"endpoint","platform_type":"sandbox","api_mode":"test",` + rest + `}}`
	}
	all := shown(whole, `"status":"authorized","scope":"patient/*.read","consent_expires_at":"2027-01-02T02:04:05Z"`)
	for name, e := range map[string]exchange{
		"with everything":      {path: whole, status: 200, want: all},
		"in upper case":        {path: strings.ToUpper(whole), status: 200, want: all},
		"with what must be":    {path: bare, status: 200, want: shown(bare, `"status":"rejected"`)},
		"unknown":              {path: "c0000000-0000-4000-8000-0000000000ff", status: 404, want: missing},
		"no UUID":              {path: "connection-1", status: 404, want: missing},
		"another organisation": {path: whole, user: publicB, status: 404, want: missing},
		"the other mode":       {path: whole, user: liveA, status: 404, want: missing},
		"our own failure":      {path: broken, status: 500, want: serverError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.path = route + e.path
			if e.user == "" {
				e.user = publicA
			}
			e.check(t, newHandler())
		})
	}
}

func TestGetConnectionKnowsItsCallersAndItsMethods(t *testing.T) {
	t.Parallel()
	allowed := failureBody("svc_method_not_allowed", "This method is not allowed here. Allowed are: GET, HEAD, OPTIONS.")
	allow := map[string]string{"Allow": "GET, HEAD, OPTIONS"}
	for name, e := range map[string]exchange{
		"no key":      {status: 401, want: unauthorized},
		"a wrong key": {user: publicA, key: "other", status: 401, want: unauthorized},
		"a stranger":  {user: "public_test_x", status: 401, want: unauthorized},
		"PUT":         {method: http.MethodPut, user: publicA, status: 405, want: allowed, header: allow},
		"HEAD":        {method: http.MethodHead, user: publicA, status: 200, header: map[string]string{"Content-Type": "application/json"}},
		"OPTIONS":     {method: http.MethodOptions, status: 204, header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.path = route + whole
			e.check(t, newHandler())
		})
	}
}
