package getexport_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"recordbridge/functions/getexport"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	pending   = "00000000000040008000000000000001"
	dashed    = "00000000-0000-4000-8000-000000000001"
	succeeded = "00000000000040008000000000000002"
	failed    = "00000000000040008000000000000003"
	damaged   = "00000000000040008000000000000004"
	deleted   = "00000000000040008000000000000006"
	broken    = "00000000000040008000000000000005"
	lost      = "00000000000040008000000000000007"
	unsigned  = "00000000000040008000000000000008"
	old       = "0000000000004000800000000000000a"
	route     = "/bridge/fhir/ehi-export/"
)

type tasks struct{}

func (tasks) Task(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	task := export.Task{ID: id, Tenant: tenant}
	switch {
	case tenant != keyedtest.Tenants()[keyedtest.PublicA]:
		return export.Task{}, fault.Missing("no row")
	case id == pending:
		task.Status, task.Progress = export.Pending,
			webhook.Progress{QueriesDone: 2, QueriesPlanned: 9, Resources: 4, Bytes: 512}
		return task, nil
	case slices.Contains([]string{succeeded, damaged, deleted, unsigned, old}, id):
		task.Status, task.FilesUntil = export.Success, keyedtest.Moment().Add(time.Second)
		task.Files = []export.File{{Format: export.JSONLines, Name: "a.jsonl", Bytes: 7, SHA256: "ab"}}
		task.Scope = export.Scope{Asked: "patient/*.rs", Granted: "patient/*.r"}
		task.Progress = webhook.Progress{QueriesDone: 3, QueriesPlanned: 3, Resources: 3, Bytes: 7}
		if id == deleted {
			task.FilesUntil = keyedtest.Moment()
		}
		task.Stats = webhook.Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Goal": 2}}
		task.Outcome = []export.TypeOutcome{
			{Type: "Patient", Result: export.OutcomeOK, Count: 1},
			{Type: "Goal", Result: export.OutcomeTruncated, Count: 2, Status: 503, Reason: export.LossUnavailable},
		}
		return task, nil
	case id == failed:
		task.Status, task.FailureReason = export.Failed, export.ScopePatientMissing
		return task, nil
	case id == lost:
		task.Status, task.FailureReason = export.Failed, export.ResourceInvalidContent
		task.Outcome = []export.TypeOutcome{{
			Type: "Goal", Result: export.OutcomeFailed, Status: 200,
			Reason: export.LossContent,
		}}
		return task, nil
	case id == broken:
		return export.Task{}, keyedtest.ErrTrouble
	}
	return export.Task{}, fault.Missing("no row")
}

// links returns URLs with a fixed token.
type links struct{}

func (links) List(task export.Task) ([]webhook.DownloadLink, error) {
	if task.ID == damaged {
		return nil, keyedtest.ErrTrouble
	}
	return []webhook.DownloadLink{{
		URL: "https://api.example/" + task.ID + "?token=a&b", ExportType: "jsonl", ContentType: "application/fhir+ndjson",
	}}, nil
}

func (links) Manifest(task export.Task) (*webhook.ManifestLink, error) {
	switch task.ID {
	case unsigned:
		return nil, keyedtest.ErrTrouble
	case old:
		return nil, nil
	}
	return &webhook.ManifestLink{URL: "https://api.example/manifest.json?token=c", Signature: "a..b"}, nil
}

func newHandler() http.Handler {
	return getexport.New(getexport.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}},
		Tasks: tasks{}, Links: links{}, Now: keyedtest.Moment,
	})
}

func TestGetExportReturnsStatusOrError(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Export not found.")
	include := keyedtest.FailureBody("svc_invalid_request", "include must be result or progress.")
	isPending := `{"success":true,"data":{"task_id":"` + pending + `","status":"pending"}}`
	for name, e := range map[string]keyedtest.Exchange{
		"pending":             {Path: pending, Status: 200, Want: isPending},
		"the dashed form":     {Path: dashed, Status: 200, Want: isPending},
		"nothing to include":  {Path: pending + "?include=", Status: 200, Want: isPending},
		"pending with result": {Path: pending + "?include=result", Status: 200, Want: isPending},
		"success": {
			Path: succeeded, Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + succeeded + `","status":"success"}}`,
		},
		"failed": {
			Path: failed, Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + failed + `","status":"failed"}}`,
		},
		"failed with result": {
			Path: failed + "?include=result", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + failed +
				`","status":"failed","failure_reason":"scope_patient_missing"}}`,
		},
		"lost with result": {
			Path: lost + "?include=result", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + lost +
				`","status":"failed","failure_reason":"resource_invalid_content",` +
				`"outcome":[{"type":"Goal","result":"failed","count":0,"http_status":200,"reason":"invalid_content"}]}}`,
		},
		"unknown":              {Path: "00000000000040008000000000000009", Status: 404, Want: missing},
		"no task id":           {Path: "task-1", Status: 404, Want: missing},
		"an id with braces":    {Path: "%7B" + dashed + "%7D", Status: 404, Want: missing},
		"another organisation": {Path: pending, User: keyedtest.PublicB, Status: 404, Want: missing},
		"the other mode":       {Path: pending, User: keyedtest.LiveA, Status: 404, Want: missing},
		"unknown include":      {Path: pending + "?include=everything", Status: 400, Want: include},
		"include twice": {
			Path: pending + "?include=result&include=result", Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "include must not be repeated."),
		},
		"our own failure":              {Path: broken, Status: 500, Want: keyedtest.ServerError},
		"a link that fails":            {Path: damaged + "?include=result", Status: 500, Want: keyedtest.ServerError},
		"a manifest's link that fails": {Path: unsigned + "?include=result", Status: 500, Want: keyedtest.ServerError},
		"pending with progress": {
			Path: pending + "?include=progress", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + pending +
				`","status":"pending","progress":{"queries_done":2,"queries_planned":9,"resources":4,"bytes":512}}}`,
		},
		"success with progress": {
			Path: succeeded + "?include=progress", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + succeeded +
				`","status":"success","progress":{"queries_done":3,"queries_planned":3,"resources":3,"bytes":7}}}`,
		},
		"deleted files": {
			Path: deleted + "?include=result", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + deleted + `","status":"success",` +
				`"stats":{"total_resources":3,"total_by_resource_type":{"Goal":2,"Patient":1}},` +
				`"scope":{"asked":"patient/*.rs","granted":"patient/*.r"},` +
				`"outcome":[{"type":"Patient","result":"ok","count":1},{"type":"Goal","result":"truncated","count":2,` +
				`"http_status":503,"reason":"unavailable"}],"complete":false,"missing":{"Goal":"unavailable"}}}`,
		},
		"success without a manifest": {
			Path: old + "?include=result", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + old + `","status":"success",` +
				`"stats":{"total_resources":3,"total_by_resource_type":{"Goal":2,"Patient":1}},` +
				`"download_links":[{"url":"https://api.example/` + old +
				`?token=a&b","export_type":"jsonl","content_type":"application/fhir+ndjson"}],` +
				`"files":[{"file_name":"a.jsonl","export_type":"jsonl","bytes":7,"sha256":"ab"}],` +
				`"scope":{"asked":"patient/*.rs","granted":"patient/*.r"},` +
				`"outcome":[{"type":"Patient","result":"ok","count":1},{"type":"Goal","result":"truncated","count":2,` +
				`"http_status":503,"reason":"unavailable"}],"complete":false,"missing":{"Goal":"unavailable"}}}`,
		},
		"success with result": {
			Path: succeeded + "?include=result", Status: 200,
			Want: `{"success":true,"data":{"task_id":"` + succeeded + `","status":"success",` +
				`"stats":{"total_resources":3,"total_by_resource_type":{"Goal":2,"Patient":1}},` +
				`"download_links":[{"url":"https://api.example/` + succeeded +
				`?token=a&b","export_type":"jsonl","content_type":"application/fhir+ndjson"}],` +
				`"files":[{"file_name":"a.jsonl","export_type":"jsonl","bytes":7,"sha256":"ab"}],` +
				`"manifest":{"url":"https://api.example/manifest.json?token=c","signature":"a..b"},` +
				`"scope":{"asked":"patient/*.rs","granted":"patient/*.r"},` +
				`"outcome":[{"type":"Patient","result":"ok","count":1},{"type":"Goal","result":"truncated","count":2,` +
				`"http_status":503,"reason":"unavailable"}],"complete":false,"missing":{"Goal":"unavailable"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = route + e.Path
			if e.User == "" {
				e.User = keyedtest.PublicA
			}
			e.Check(t, getexport.Route, newHandler())
		})
	}
}

func TestGetExportRequiresKeyAndGet(t *testing.T) {
	t.Parallel()
	keyedtest.CheckReader(t, getexport.Route, route+pending, http.MethodPost, newHandler)
}
