package getconnection_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/getconnection"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	whole  = "c0000000-0000-4000-8000-00000000000a"
	bare   = "c0000000-0000-4000-8000-00000000000b"
	broken = "c0000000-0000-4000-8000-00000000000c"
	tefca  = "c0000000-0000-4000-8000-00000000000d"
	route  = "/bridge/org_connection/"
)

type connections struct{}

func (connections) Connection(_ context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	c := connection.Connection{
		ID: id, Tenant: tenant, Status: connection.Rejected, BrandID: "brand", PortalID: "portal", EndpointID: "endpoint",
		PlatformType: "sandbox", Patient: secret.Mark{Version: 1, Sum: []byte("never shown")}, Generation: 4,
	}
	switch {
	case tenant != keyedtest.Tenants()[keyedtest.PublicA]:
		return connection.Connection{}, fault.Missing("no row")
	case id == whole:
		c.Status, c.Scope = connection.Authorized, "patient/*.read"
		c.ConsentExpiresAt = time.Date(2027, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
		return c, nil
	case id == bare:
		return c, nil
	case id == tefca:
		return connection.Connection{
			ID: id, Tenant: tenant, Status: connection.Authorized, PlatformType: "tefca", DirectoryID: "urn:oid:2.999.1.7",
			Scope: "patient/*.read",
		}, nil
	case id == broken:
		return connection.Connection{}, keyedtest.ErrTrouble
	}
	return connection.Connection{}, fault.Missing("no row")
}

func newHandler() http.Handler {
	return getconnection.New(getconnection.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}},
		Connections: connections{},
	})
}

func TestGetConnectionReturnsStatusOrError(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Connection not found.")
	shown := func(id, rest string) string {
		return `{"success":true,"data":{"kind":"portal","org_connection_id":"` + id +
			`","org_id":"a0000000-0000-4000-8000-000000000001",` +
			`"catalog_brand_id":"brand","catalog_portal_id":"portal","catalog_endpoint_id":"endpoint",` +
			`"platform_type":"sandbox","api_mode":"test",` + rest + `}}`
	}
	all := shown(whole, `"status":"authorized","scope":"patient/*.read","consent_expires_at":"2027-01-02T02:04:05Z"`)
	for name, e := range map[string]keyedtest.Exchange{
		"with everything": {Path: whole, Status: 200, Want: all},
		"in upper case":   {Path: strings.ToUpper(whole), Status: 200, Want: all},
		"of TEFCA": {Path: tefca, Status: 200, Want: `{"success":true,"data":{"kind":"tefca","org_connection_id":"` + tefca +
			`","org_id":"a0000000-0000-4000-8000-000000000001",` +
			`"tefca_directory_id":"urn:oid:2.999.1.7","platform_type":"tefca","api_mode":"test","status":"authorized",` +
			`"scope":"patient/*.read"}}`},
		"with what must be":    {Path: bare, Status: 200, Want: shown(bare, `"status":"rejected"`)},
		"unknown":              {Path: "c0000000-0000-4000-8000-0000000000ff", Status: 404, Want: missing},
		"no UUID":              {Path: "connection-1", Status: 404, Want: missing},
		"another organisation": {Path: whole, User: keyedtest.PublicB, Status: 404, Want: missing},
		"the other mode":       {Path: whole, User: keyedtest.LiveA, Status: 404, Want: missing},
		"our own failure":      {Path: broken, Status: 500, Want: keyedtest.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = route + e.Path
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, getconnection.Route, newHandler())
		})
	}
}

func TestGetConnectionRequiresKeyAndGet(t *testing.T) {
	t.Parallel()
	keyedtest.CheckReader(t, getconnection.Route, route+whole, http.MethodPut, newHandler, http.MethodDelete)
}
