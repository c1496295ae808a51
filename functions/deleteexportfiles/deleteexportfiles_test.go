package deleteexportfiles_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"recordbridge/functions/deleteexportfiles"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	succeeded = "0000000000004000800000000000000a"
	dashed    = "00000000-0000-4000-8000-00000000000a"
	failed    = "0000000000004000800000000000000b"
	running   = "0000000000004000800000000000000c"
	broken    = "0000000000004000800000000000000d"
)

func path(id string) string { return "/bridge/fhir/ehi-export/" + id + "/files" }

type deleter struct{}

func (deleter) Delete(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	if tenant != keyedtest.Tenants()[keyedtest.PublicA] {
		return export.Task{}, export.Missing()
	}
	switch id {
	case succeeded:
		return export.Task{ID: id, Status: export.Success, Files: []export.File{{Name: "secret"}}}, nil
	case failed:
		return export.Task{ID: id, Status: export.Failed, FailureReason: export.ScopePatientMissing}, nil
	case running:
		return export.Task{}, fault.BadRequest("It runs.")
	case broken:
		return export.Task{ID: id, Status: export.Success}, keyedtest.ErrTrouble
	}
	return export.Task{}, export.Missing()
}

func newHandler() http.Handler {
	return deleteexportfiles.New(deleteexportfiles.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}}, Deleter: deleter{},
	})
}

func TestDeleteExportFilesReturnsTaskOrError(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Export not found.")
	done := `{"success":true,"data":{"task_id":"` + succeeded + `","status":"success"}}`
	for name, e := range map[string]keyedtest.Exchange{
		"the task":      {Path: path(succeeded), Status: 200, Want: done},
		"dashed":        {Path: path(dashed), Status: 200, Want: done},
		"in upper case": {Path: path(strings.ToUpper(dashed)), Status: 200, Want: done},
		"a failed one": {
			Path: path(failed), Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + failed + `","status":"failed"}}`,
		},
		"a running one": {
			Path: path(running), Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "It runs."),
		},
		"unknown":              {Path: path("000000000000400080000000000000ff"), Status: 404, Want: missing},
		"no task id":           {Path: path("task-1"), Status: 404, Want: missing},
		"another organisation": {Path: path(succeeded), User: keyedtest.PublicB, Status: 404, Want: missing},
		"the other mode":       {Path: path(succeeded), User: keyedtest.LiveA, Status: 404, Want: missing},
		"our own failure":      {Path: path(broken), Status: 500, Want: keyedtest.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method = http.MethodDelete
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, deleteexportfiles.Route, newHandler())
		})
	}
}

func TestDeleteExportFilesRequiresKeyAndDelete(t *testing.T) {
	t.Parallel()
	allow := map[string]string{"Allow": "DELETE, OPTIONS"}
	refused := keyedtest.FailureBody("svc_method_not_allowed",
		"This method is not allowed for this URL. Allowed methods: DELETE, OPTIONS.")
	for name, e := range map[string]keyedtest.Exchange{
		"no key": {Method: http.MethodDelete, Status: 401, Want: keyedtest.Unauthorized},
		"a wrong key": {
			Method: http.MethodDelete, User: keyedtest.PublicA, Key: "other", Status: 401,
			Want: keyedtest.Unauthorized,
		},
		"a stranger": {Method: http.MethodDelete, User: "public_test_x", Status: 401, Want: keyedtest.Unauthorized},
		"GET":        {Method: http.MethodGet, User: keyedtest.PublicA, Status: 405, Want: refused, Header: allow},
		"POST":       {Method: http.MethodPost, User: keyedtest.PublicA, Status: 405, Want: refused, Header: allow},
		"OPTIONS":    {Method: http.MethodOptions, Status: 204, Header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = path(succeeded)
			e.Check(t, deleteexportfiles.Route, newHandler())
		})
	}
}
