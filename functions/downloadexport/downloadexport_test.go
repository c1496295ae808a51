package downloadexport_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/downloadexport"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	ready    = "00000000000040008000000000000001"
	dashed   = "00000000-0000-4000-8000-000000000001"
	old      = "00000000000040008000000000000002"
	pending  = "00000000000040008000000000000003"
	broken   = "00000000000040008000000000000004"
	unsigned = "00000000000040008000000000000005"
)

// tasks are the exports of organisation A in test mode.
type tasks struct{}

func (tasks) Task(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	if tenant != tenants()[publicA] {
		return export.Task{}, fault.Missing("no row")
	}
	task := export.Task{
		ID: id, Tenant: tenant, Status: export.Success, File: export.File{Name: id + ".jsonl", Key: "key of " + id},
		FilesUntil: aMoment().Add(time.Minute),
	}
	switch id {
	case ready, unsigned:
	case old:
		task.FilesUntil = aMoment()
	case pending:
		task.Status = export.Pending
	case broken:
		return export.Task{}, errTrouble
	default:
		return export.Task{}, fault.Missing("no row")
	}
	return task, nil
}

// downloads signs addresses so that a test can read what was signed.
type downloads struct{}

func (downloads) Address(_ context.Context, key, fileName, contentType string, life time.Duration) (string, error) {
	if strings.Contains(key, unsigned) {
		return "", errTrouble
	}
	return "https://files.example/?" + strings.Join([]string{key, fileName, contentType, life.String()}, "|"), nil
}

func newLinks(t *testing.T) export.Links {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return export.Links{Keys: ring}
}

// link returns the path of a task's download URL, with its token.
func link(t *testing.T, id string) string {
	t.Helper()
	address, err := newLinks(t).URL(export.Task{
		ID: id, Tenant: tenants()[publicA], File: export.File{Name: id + ".jsonl"}, FilesUntil: aMoment().Add(time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func path(id, fileName string) string {
	return "/bridge/fhir/ehi-export/" + id + "/download/" + fileName
}

func newHandler(t *testing.T, now time.Time) http.Handler {
	t.Helper()
	return downloadexport.New(downloadexport.Deps{
		API: newAPI(), Auth: httpapi.KeyAuth{Keys: keys{}}, Tasks: tasks{}, Links: newLinks(t), Downloads: downloads{},
		Now: func() time.Time { return now },
	})
}

// found is the redirect to a task's file.
func found(id string) map[string]string {
	return map[string]string{
		"Location":     "https://files.example/?key of " + id + "|" + id + ".jsonl|application/fhir+ndjson|10m0s",
		"Content-Type": "", "Referrer-Policy": "no-referrer",
	}
}

func TestADownloadNeedsATokenOrTheOwnersKey(t *testing.T) {
	t.Parallel()
	missing := failureBody("svc_not_found", "There is no such export.")
	expired := failureBody("svc_export_expired", "The files of this export have been deleted. Request a new export.")
	invalid := failureBody("svc_unauthorized_client", "The download link is not valid.")
	token := strings.TrimPrefix(link(t, ready), path(ready, ready+".jsonl"))
	for name, e := range map[string]exchange{
		"the link":                     {path: link(t, ready), status: 302, header: found(ready)},
		"the link, dashed":             {path: path(dashed, ready+".jsonl") + token, status: 302, header: found(ready)},
		"the key":                      {path: path(ready, ready+".jsonl"), user: publicA, status: 302, header: found(ready)},
		"the key, dashed":              {path: path(dashed, ready+".jsonl"), user: publicA, status: 302, header: found(ready)},
		"HEAD":                         {method: http.MethodHead, path: link(t, ready), status: 302, header: found(ready)},
		"neither":                      {path: path(ready, ready+".jsonl"), status: 401, want: invalid},
		"a false token":                {path: path(ready, ready+".jsonl") + "?token=1.e30.AAAA", status: 401, want: invalid},
		"the token of another task":    {path: path(old, old+".jsonl") + token, status: 401, want: invalid},
		"the token of another file":    {path: path(ready, "other.jsonl") + token, status: 401, want: invalid},
		"two tokens":                   {path: link(t, ready) + "&token=x", status: 400, want: failureBody("svc_invalid_request", "token must be sent only once.")},
		"a wrong key beside the token": {path: link(t, ready), user: publicA, key: "other", status: 401, want: unauthorized},
		"another organisation's key":   {path: path(ready, ready+".jsonl"), user: publicB, status: 404, want: missing},
		"the other mode's key":         {path: path(ready, ready+".jsonl"), user: liveA, status: 404, want: missing},
		"another's key and the token":  {path: link(t, ready), user: publicB, status: 404, want: missing},
		"another file":                 {path: path(ready, "other.jsonl"), user: publicA, status: 404, want: missing},
		"an unknown task":              {path: path("00000000000040008000000000000009", "x.jsonl"), user: publicA, status: 404, want: missing},
		"no task id":                   {path: path("task-1", "x.jsonl"), user: publicA, status: 404, want: missing},
		"no task id and no key":        {path: path("task-1", "x.jsonl"), status: 404, want: missing},
		"pending":                      {path: path(pending, pending+".jsonl"), user: publicA, status: 404, want: missing},
		"expired, by key":              {path: path(old, old+".jsonl"), user: publicA, status: 410, want: expired},
		"expired, by token":            {path: link(t, old), status: 410, want: expired},
		"our own failure":              {path: link(t, broken), status: 500, want: serverError},
		"a file that cannot be signed": {path: link(t, unsigned), status: 500, want: serverError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.check(t, newHandler(t, aMoment()))
		})
	}
}

func TestATokenEndsWithItsFile(t *testing.T) {
	t.Parallel()
	exchange{
		path: link(t, ready), status: 410,
		want: failureBody("svc_export_expired", "The files of this export have been deleted. Request a new export."),
	}.check(t, newHandler(t, aMoment().Add(time.Minute)))
}

func TestADownloadIsOnlyRead(t *testing.T) {
	t.Parallel()
	allow := map[string]string{"Allow": "GET, HEAD, OPTIONS"}
	allowed := failureBody("svc_method_not_allowed", "This method is not allowed here. Allowed are: GET, HEAD, OPTIONS.")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		exchange{method: method, path: link(t, ready), status: 405, want: allowed, header: allow}.check(t, newHandler(t, aMoment()))
	}
	exchange{method: http.MethodOptions, path: link(t, ready), status: 204, header: allow}.check(t, newHandler(t, aMoment()))
}
