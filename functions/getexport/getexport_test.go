package getexport_test

import (
	"context"
	"net/http"
	"testing"

	"recordbridge/functions/getexport"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

const (
	pending   = "00000000000040008000000000000001"
	dashed    = "00000000-0000-4000-8000-000000000001"
	succeeded = "00000000000040008000000000000002"
	failed    = "00000000000040008000000000000003"
	damaged   = "00000000000040008000000000000004"
	broken    = "00000000000040008000000000000005"
	route     = "/bridge/fhir/ehi-export/"
)

// tasks are the exports of organisation A in test mode.
type tasks struct{}

func (tasks) Task(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	task := export.Task{ID: id, Tenant: tenant}
	switch {
	case tenant != tenants()[publicA]:
		return export.Task{}, fault.Missing("no row")
	case id == pending:
		task.Status = export.Pending
		return task, nil
	case id == succeeded, id == damaged:
		task.Status = export.Success
		task.Stats = webhook.Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Goal": 2}}
		task.Outcome = []export.TypeOutcome{
			{Type: "Patient", Result: export.OutcomeOK, Count: 1}, {Type: "Goal", Result: export.OutcomeTruncated, Count: 2, Status: 503},
		}
		return task, nil
	case id == failed:
		task.Status, task.FailureReason = export.Failed, export.ScopePatientMissing
		return task, nil
	case id == broken:
		return export.Task{}, errTrouble
	}
	return export.Task{}, fault.Missing("no row")
}

// links mints addresses that need no key.
type links struct{}

func (links) URL(task export.Task) (string, error) {
	if task.ID == damaged {
		return "", errTrouble
	}
	return "https://api.example/" + task.ID + "?token=a&b", nil
}

func newHandler() http.Handler {
	return getexport.New(getexport.Deps{API: newAPI(), Auth: httpapi.KeyAuth{Keys: keys{}}, Tasks: tasks{}, Links: links{}})
}

func TestGetExportAnswers(t *testing.T) {
	t.Parallel()
	missing := failureBody("svc_not_found", "There is no such export.")
	include := failureBody("svc_invalid_request", "include can only be result.")
	isPending := `{"success":true,"data":{"task_id":"` + pending + `","status":"pending"}}`
	for name, e := range map[string]exchange{
		"pending":              {path: pending, status: 200, want: isPending},
		"the dashed form":      {path: dashed, status: 200, want: isPending},
		"nothing to include":   {path: pending + "?include=", status: 200, want: isPending},
		"pending with result":  {path: pending + "?include=result", status: 200, want: isPending},
		"success":              {path: succeeded, status: 200, want: `{"success":true,"data":{"task_id":"` + succeeded + `","status":"success"}}`},
		"failed":               {path: failed, status: 200, want: `{"success":true,"data":{"task_id":"` + failed + `","status":"failed"}}`},
		"failed with result":   {path: failed + "?include=result", status: 200, want: `{"success":true,"data":{"task_id":"` + failed + `","status":"failed","failure_reason":"scope_patient_missing"}}`},
		"unknown":              {path: "00000000000040008000000000000009", status: 404, want: missing},
		"no task id":           {path: "task-1", status: 404, want: missing},
		"an id with braces":    {path: "%7B" + dashed + "%7D", status: 404, want: missing},
		"another organisation": {path: pending, user: publicB, status: 404, want: missing},
		"the other mode":       {path: pending, user: liveA, status: 404, want: missing},
		"unknown include":      {path: pending + "?include=everything", status: 400, want: include},
		"include twice":        {path: pending + "?include=result&include=result", status: 400, want: failureBody("svc_invalid_request", "include must be sent only once.")},
		"our own failure":      {path: broken, status: 500, want: serverError},
		"a link that fails":    {path: damaged + "?include=result", status: 500, want: serverError},
		"success with result": {path: succeeded + "?include=result", status: 200, want: `{"success":true,"data":{"task_id":"` + succeeded + `","status":"success",` +
			`"stats":{"total_resources":3,"total_by_resource_type":{"Goal":2,"Patient":1}},` +
			`"download_links":[{"url":"https://api.example/` + succeeded + `?token=a&b","export_type":"jsonl","content_type":"application/fhir+ndjson"}],` +
			`"outcome":[{"type":"Patient","result":"ok","count":1},{"type":"Goal","result":"truncated","count":2,"http_status":503}]}}`},
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

func TestGetExportKnowsItsCallersAndItsMethods(t *testing.T) {
	t.Parallel()
	allowed := failureBody("svc_method_not_allowed", "This method is not allowed here. Allowed are: GET, HEAD, OPTIONS.")
	allow := map[string]string{"Allow": "GET, HEAD, OPTIONS"}
	for name, e := range map[string]exchange{
		"no key":      {status: 401, want: unauthorized},
		"a wrong key": {user: publicA, key: "other", status: 401, want: unauthorized},
		"a stranger":  {user: "public_test_x", status: 401, want: unauthorized},
		"POST":        {method: http.MethodPost, user: publicA, status: 405, want: allowed, header: allow},
		"HEAD":        {method: http.MethodHead, user: publicA, status: 200, header: map[string]string{"Content-Type": "application/json"}},
		"OPTIONS":     {method: http.MethodOptions, status: 204, header: allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.path = route + pending
			e.check(t, newHandler())
		})
	}
}
