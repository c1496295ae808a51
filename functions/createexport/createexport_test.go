package createexport_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"recordbridge/functions/createexport"
	"recordbridge/shared/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
)

const (
	known   = "c0000000-0000-4000-8000-00000000000a" // of organisation A in test mode
	revoked = "c0000000-0000-4000-8000-00000000000b"
	broken  = "c0000000-0000-4000-8000-00000000000c"
	busy    = "c0000000-0000-4000-8000-00000000000d"
	pending = "0123456789abcdef0123456789abcdef"
	fresh   = "fedcba9876543210fedcba9876543210"
)

// registrar knows the connections of organisation A.
type registrar struct{}

func (registrar) Register(_ context.Context, tenant org.Tenant, id string, refresh bool) (export.Task, error) {
	switch {
	case tenant != tenants()[publicA]:
		return export.Task{}, connection.Missing()
	case id == known && refresh:
		return export.Task{ID: fresh, Status: export.Success}, nil
	case id == known:
		return export.Task{ID: pending, Status: export.Pending}, nil
	case id == revoked:
		return export.Task{}, connection.Connection{Status: connection.Revoked}.Exportable()
	case id == broken:
		return export.Task{}, errTrouble
	case id == busy:
		return export.Task{}, fault.Stale()
	}
	return export.Task{}, connection.Missing()
}

func newHandler() http.Handler {
	return createexport.New(createexport.Deps{API: newAPI(), Auth: httpapi.KeyAuth{Keys: keys{}}, Exports: registrar{}})
}

func TestCreateExportAnswers(t *testing.T) {
	t.Parallel()
	missing := failureBody("svc_not_found", "There is no such connection.")
	fixtures := failureBody("svc_invalid_request", "fixtures is only for TEFCA connections in test mode.")
	accepted := `{"success":true,"data":{"task_id":"` + pending + `","status":"pending"}}`
	for name, e := range map[string]exchange{
		"a task":                {body: `{"org_connection_id":"` + known + `"}`, status: 200, want: accepted},
		"an id in upper case":   {body: `{"org_connection_id":"` + strings.ToUpper(known) + `"}`, status: 200, want: accepted},
		"unknown members":       {body: `{"org_connection_id":"` + known + `","later":{"a":1}}`, status: 200, want: accepted},
		"no fixtures":           {body: `{"org_connection_id":"` + known + `","fixtures":null}`, status: 200, want: accepted},
		"refresh":               {body: `{"org_connection_id":"` + known + `","refresh":true}`, status: 200, want: `{"success":true,"data":{"task_id":"` + fresh + `","status":"success"}}`},
		"fixtures":              {body: `{"org_connection_id":"` + known + `","fixtures":{"tefca_ccda":"a.xml"}}`, status: 400, want: fixtures},
		"empty fixtures":        {body: `{"org_connection_id":"` + known + `","fixtures":{}}`, status: 400, want: fixtures},
		"unknown connection":    {body: `{"org_connection_id":"c0000000-0000-4000-8000-0000000000ff"}`, status: 404, want: missing},
		"an id that is no UUID": {body: `{"org_connection_id":"connection-1"}`, status: 404, want: missing},
		"another organisation":  {user: publicB, body: `{"org_connection_id":"` + known + `"}`, status: 404, want: missing},
		"the other mode":        {user: liveA, body: `{"org_connection_id":"` + known + `"}`, status: 404, want: missing},
		"our own failure":       {body: `{"org_connection_id":"` + broken + `"}`, status: 500, want: serverError},
		"revoked":               {body: `{"org_connection_id":"` + revoked + `"}`, status: 409, want: failureBody("svc_connection_not_exportable", "The patient's authorisation is no longer valid. Ask the patient to reconnect.")},
		"a race without a winner": {
			body: `{"org_connection_id":"` + busy + `"}`, status: 503,
			want: failureBody("svc_unavailable", "The record was changed at the same time. Please try again."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.method, e.path = http.MethodPost, createexport.Route
			if e.user == "" {
				e.user = publicA
			}
			e.check(t, newHandler())
		})
	}
}

func TestCreateExportRefusesBodiesThatAreNoRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, code, description string
		status                  int
	}{
		"no body":          {"", "svc_invalid_request", "A JSON body is required.", 400},
		"no JSON":          {"org_connection_id=x", "svc_invalid_request", "The body is not valid JSON.", 400},
		"half an object":   {`{"org_connection_id":"`, "svc_invalid_request", "The body is not valid JSON.", 400},
		"an array":         {`[]`, "svc_invalid_request", "The body must be a JSON object.", 400},
		"two objects":      {`{"org_connection_id":"x"}{}`, "svc_invalid_request", "The body must be one JSON object with nothing after it.", 400},
		"no connection":    {`{}`, "svc_invalid_request", "org_connection_id is required.", 400},
		"empty connection": {`{"org_connection_id":""}`, "svc_invalid_request", "org_connection_id is required.", 400},
		"a number":         {`{"org_connection_id":7}`, "svc_invalid_request", "org_connection_id must be a string.", 400},
		"refresh as text":  {`{"org_connection_id":"x","refresh":"yes"}`, "svc_invalid_request", "refresh must be true or false.", 400},
		"twice":            {`{"org_connection_id":"x","Org_Connection_ID":"y"}`, "svc_invalid_request", "The body has the same member twice.", 400},
		"too large":        {`{"org_connection_id":"` + strings.Repeat("x", 64<<10) + `"}`, "svc_payload_too_large", "The body must not be larger than 64 KiB.", 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchange{
				method: http.MethodPost, path: createexport.Route, user: publicA, body: c.body,
				status: c.status, want: failureBody(c.code, c.description),
			}.check(t, newHandler())
		})
	}
}

func TestCreateExportKnowsItsCallersAndItsMethods(t *testing.T) {
	t.Parallel()
	body := `{"org_connection_id":"` + known + `"}`
	allowed := failureBody("svc_method_not_allowed", "This method is not allowed here. Allowed are: POST, OPTIONS.")
	allow := map[string]string{"Allow": "POST, OPTIONS"}
	for name, e := range map[string]exchange{
		"no key":       {method: http.MethodPost, body: body, status: 401, want: unauthorized},
		"a wrong key":  {method: http.MethodPost, body: body, user: publicA, key: "other", status: 401, want: unauthorized},
		"a stranger":   {method: http.MethodPost, body: body, user: "public_test_x", status: 401, want: unauthorized},
		"no key first": {method: http.MethodPost, body: "no JSON", status: 401, want: unauthorized},
		"GET":          {method: http.MethodGet, user: publicA, status: 405, want: allowed, header: allow},
		"DELETE":       {method: http.MethodDelete, user: publicA, status: 405, want: allowed, header: allow},
		"HEAD":         {method: http.MethodHead, user: publicA, status: 405, header: allow},
		"OPTIONS":      {method: http.MethodOptions, status: 204, header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.path = createexport.Route
			e.check(t, newHandler())
		})
	}
}
