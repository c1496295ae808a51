package createexport_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/createexport"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	known   = "c0000000-0000-4000-8000-00000000000a" // organisation A's connection in test mode
	revoked = "c0000000-0000-4000-8000-00000000000b"
	refused = "c0000000-0000-4000-8000-00000000000e"
	broken  = "c0000000-0000-4000-8000-00000000000c"
	damaged = "c0000000-0000-4000-8000-000000000010"
	busy    = "c0000000-0000-4000-8000-00000000000d"
	pending = "0123456789abcdef0123456789abcdef"
	fresh   = "fedcba9876543210fedcba9876543210"
)

type registrar struct{}

func (registrar) Register(_ context.Context, tenant org.Tenant, id string, options export.Options,
	refresh bool,
) (export.Task, error) {
	switch {
	case tenant != keyedtest.Tenants()[keyedtest.PublicA]:
		return export.Task{}, connection.Missing()
	case id == known && len(options.Formats) > 0 || options.Fixture != "":
		return export.Task{ID: special(options), Status: export.Pending}, nil
	case id == known && refresh:
		return export.Task{ID: fresh, Status: export.Success}, nil
	case id == known:
		return export.Task{ID: pending, Status: export.Pending}, nil
	case id == revoked:
		return export.Task{}, connection.Connection{Status: connection.Revoked}.Exportable()
	case id == damaged:
		return export.Task{}, connection.Connection{Status: "unknown"}.Exportable()
	case id == refused:
		return export.Task{}, connection.Connection{Status: connection.Rejected}.Exportable()
	case id == broken:
		return export.Task{}, keyedtest.ErrTrouble
	case id == busy:
		return export.Task{}, fault.Stale()
	}
	return export.Task{}, connection.Missing()
}

func special(o export.Options) string {
	if o.Fixture != "" {
		return o.Fixture
	}
	return fmt.Sprint(o.Since.Format(time.RFC3339), " ", o.Types, " ", o.Formats)
}

func newHandler() http.Handler {
	return createexport.New(createexport.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}},
		Exports: registrar{}, Now: keyedtest.Moment,
	})
}

func TestCreateExportReturnsTaskOrError(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Connection not found.")
	fixtures := func(body, says string) keyedtest.Exchange {
		return keyedtest.Exchange{
			Body: `{"org_connection_id":"` + known + `","fixtures":` + body + `}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", says),
		}
	}
	const shape = "fixtures must be an object whose only member is tefca_ccda, a string."
	live := fixtures(`{"tefca_ccda":"alder.xml"}`, "fixtures is allowed only for TEFCA connections in test mode.")
	live.User = keyedtest.LiveA
	accepted := `{"success":true,"data":{"task_id":"` + pending + `","status":"pending"}}`
	for name, e := range map[string]keyedtest.Exchange{
		"a task":              {Body: `{"org_connection_id":"` + known + `"}`, Status: 200, Want: accepted},
		"an id in upper case": {Body: `{"org_connection_id":"` + strings.ToUpper(known) + `"}`, Status: 200, Want: accepted},
		"unknown members":     {Body: `{"org_connection_id":"` + known + `","later":{"a":1}}`, Status: 200, Want: accepted},
		"no fixtures":         {Body: `{"org_connection_id":"` + known + `","fixtures":null}`, Status: 200, Want: accepted},
		"options of null": {Body: `{"org_connection_id":"` + known +
			`","refresh":null,"since":null,"resource_types":null,"formats":null}`, Status: 200, Want: accepted},
		"refresh": {
			Body: `{"org_connection_id":"` + known + `","refresh":true}`, Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + fresh + `","status":"success"}}`,
		},
		"options": {
			Body: `{"org_connection_id":"` + known +
				`","since":"2020-01-31","resource_types":["Observation","Goal","Goal"],"formats":["outcome","jsonl_gz"]}`,
			Status: 200,
			Want: `{"success":true,"data":{"task_id":"2020-01-31T00:00:00Z [Goal Observation] [jsonl_gz outcome]",` +
				`"status":"pending"}}`,
		},
		"a time that is none": {
			Body: `{"org_connection_id":"` + known + `","since":"yesterday"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request",
				"since must be a date, such as 2026-01-31, or a timestamp, such as 2026-01-31T12:00:00Z."),
		},
		"a fixture": {
			Body: `{"org_connection_id":"` + known + `","fixtures":{"tefca_ccda":"birch.xml"}}`, Status: 200,
			Want: `{"success":true,"data":{"task_id":"birch.xml","status":"pending"}}`,
		},
		"a fixture in live mode": live,
		"another fixture":        fixtures(`{"tefca_ccda":"a.xml"}`, "fixtures.tefca_ccda must be alder.xml or birch.xml."),
		"no name of a fixture":   fixtures(`{"tefca_ccda":null}`, "fixtures.tefca_ccda must be alder.xml or birch.xml."),
		"empty fixtures":         {Body: `{"org_connection_id":"` + known + `","fixtures":{}}`, Status: 200, Want: accepted},
		"a fixture of our own":   fixtures(`{"tefca_ccda":"alder.xml","later":1}`, shape),
		"a fixture's number":     fixtures(`{"tefca_ccda":1}`, shape),
		"a fixture by itself":    fixtures(`"alder.xml"`, shape),
		"a list of fixtures":     fixtures(`["alder.xml"]`, shape),
		"unknown connection": {
			Body: `{"org_connection_id":"c0000000-0000-4000-8000-0000000000ff"}`, Status: 404,
			Want: missing,
		},
		"an id that is no UUID": {Body: `{"org_connection_id":"connection-1"}`, Status: 404, Want: missing},
		"another organisation": {
			User: keyedtest.PublicB, Body: `{"org_connection_id":"` + known + `"}`, Status: 404,
			Want: missing,
		},
		"the other mode": {
			User: keyedtest.LiveA, Body: `{"org_connection_id":"` + known + `"}`, Status: 404,
			Want: missing,
		},
		"our own failure":   {Body: `{"org_connection_id":"` + broken + `"}`, Status: 500, Want: keyedtest.ServerError},
		"an unknown status": {Body: `{"org_connection_id":"` + damaged + `"}`, Status: 500, Want: keyedtest.ServerError},
		"rejected": {
			Body: `{"org_connection_id":"` + refused + `"}`, Status: 409,
			Want: keyedtest.FailureBody("svc_connection_not_exportable",
				"The patient declined to share records on this connection. Ask the patient to reconnect and allow "+
					"access."),
		},
		"revoked": {
			Body: `{"org_connection_id":"` + revoked + `"}`, Status: 409,
			Want: keyedtest.FailureBody("svc_connection_not_exportable",
				"The patient's authorisation is no longer valid. Ask the patient to reconnect."),
		},
		"a race without a winner": {
			Body: `{"org_connection_id":"` + busy + `"}`, Status: 503,
			Want: keyedtest.FailureBody("svc_unavailable", "The record changed at the same time. Please try again."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method, e.Path = http.MethodPost, createexport.Route
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, createexport.Route, newHandler())
		})
	}
}

func TestCreateExportRejectsMalformedBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, code, description string
		status                  int
	}{
		"no body":        {"", "svc_invalid_request", "A JSON request body is required.", 400},
		"no JSON":        {"org_connection_id=x", "svc_invalid_request", "The request body is not valid JSON.", 400},
		"half an object": {`{"org_connection_id":"`, "svc_invalid_request", "The request body is not valid JSON.", 400},
		"an array":       {`[]`, "svc_invalid_request", "The request body must be a JSON object.", 400},
		"two objects": {
			`{"org_connection_id":"x"}{}`, "svc_invalid_request",
			"The request body must contain exactly one JSON object.", 400,
		},
		"no connection":    {`{}`, "svc_invalid_request", "org_connection_id is required.", 400},
		"empty connection": {`{"org_connection_id":""}`, "svc_invalid_request", "org_connection_id is required.", 400},
		"a number":         {`{"org_connection_id":7}`, "svc_invalid_request", "org_connection_id must be a string.", 400},
		"a time as number": {`{"org_connection_id":"x","since":7}`, "svc_invalid_request", "since must be a string.", 400},
		"a type alone": {
			`{"org_connection_id":"x","resource_types":"Goal"}`, "svc_invalid_request",
			"resource_types must be an array.", 400,
		},
		"types as numbers": {
			`{"org_connection_id":"x","formats":[7]}`, "svc_invalid_request",
			"formats must be a string.", 400,
		},
		"refresh as text": {
			`{"org_connection_id":"x","refresh":"yes"}`, "svc_invalid_request",
			"refresh must be true or false.", 400,
		},
		"twice": {
			`{"org_connection_id":"x","Org_Connection_ID":"y"}`, "svc_invalid_request",
			"The request body contains a duplicate member.", 400,
		},
		"too large": {
			`{"org_connection_id":"` + strings.Repeat("x", 64<<10) + `"}`, "svc_payload_too_large",
			"The request body must not exceed 64 KiB.", 413,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keyedtest.Exchange{
				Method: http.MethodPost, Path: createexport.Route, User: keyedtest.PublicA, Body: c.body,
				Status: c.status, Want: keyedtest.FailureBody(c.code, c.description),
			}.Check(t, createexport.Route, newHandler())
		})
	}
}

func TestCreateExportRequiresKeyAndPost(t *testing.T) {
	t.Parallel()
	body := `{"org_connection_id":"` + known + `"}`
	allowed := keyedtest.FailureBody("svc_method_not_allowed",
		"This method is not allowed for this URL. Allowed methods: POST, OPTIONS.")
	allow := map[string]string{"Allow": "POST, OPTIONS"}
	for name, e := range map[string]keyedtest.Exchange{
		"no key": {Method: http.MethodPost, Body: body, Status: 401, Want: keyedtest.Unauthorized},
		"a wrong key": {
			Method: http.MethodPost, Body: body, User: keyedtest.PublicA, Key: "other", Status: 401,
			Want: keyedtest.Unauthorized,
		},
		"a stranger": {
			Method: http.MethodPost, Body: body, User: "public_test_x", Status: 401,
			Want: keyedtest.Unauthorized,
		},
		"no key first": {Method: http.MethodPost, Body: "no JSON", Status: 401, Want: keyedtest.Unauthorized},
		"GET":          {Method: http.MethodGet, User: keyedtest.PublicA, Status: 405, Want: allowed, Header: allow},
		"DELETE":       {Method: http.MethodDelete, User: keyedtest.PublicA, Status: 405, Want: allowed, Header: allow},
		"HEAD":         {Method: http.MethodHead, User: keyedtest.PublicA, Status: 405, Header: allow},
		"OPTIONS":      {Method: http.MethodOptions, Status: 204, Header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = createexport.Route
			e.Check(t, createexport.Route, newHandler())
		})
	}
}
