package downloadexport_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/downloadexport"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	ready    = "00000000000040008000000000000001"
	dashed   = "00000000-0000-4000-8000-000000000001"
	old      = "00000000000040008000000000000002"
	pending  = "00000000000040008000000000000003"
	broken   = "00000000000040008000000000000004"
	unsigned = "00000000000040008000000000000005"
)

type tasks struct{}

func (tasks) Task(_ context.Context, tenant org.Tenant, id string) (export.Task, error) {
	if tenant != keyedtest.Tenants()[keyedtest.PublicA] {
		return export.Task{}, fault.Missing("no row")
	}
	task := export.Task{
		ID: id, Tenant: tenant, Status: export.Success,
		Files:      []export.File{{Name: id + ".jsonl", Key: "key of " + id, ContentType: "application/fhir+ndjson"}},
		Manifest:   export.Manifest{Key: "manifest of " + id, Signature: "a..b"},
		FilesUntil: keyedtest.Moment().Add(time.Minute),
	}
	switch id {
	case ready, unsigned:
	case old:
		task.FilesUntil = keyedtest.Moment()
	case pending:
		task.Status = export.Pending
	case broken:
		return export.Task{}, keyedtest.ErrTrouble
	default:
		return export.Task{}, fault.Missing("no row")
	}
	return task, nil
}

// downloads returns URLs that contain the arguments of Address, so that tests can check them.
type downloads struct{}

func (downloads) Address(_ context.Context, method, key, fileName, contentType string,
	life time.Duration,
) (string, error) {
	if strings.Contains(key, unsigned) {
		return "", keyedtest.ErrTrouble
	}
	return "https://files.example/?" + strings.Join([]string{method, key, fileName, contentType, life.String()}, "|"), nil
}

func newLinks(t *testing.T) export.Links {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return export.Links{Keys: ring}
}

// link returns the path and token of a task's download URL.
func link(t *testing.T, id string) string {
	t.Helper()
	list, err := newLinks(t).List(export.Task{
		ID: id, Tenant: keyedtest.Tenants()[keyedtest.PublicA], Files: []export.File{{Name: id + ".jsonl"}},
		FilesUntil: keyedtest.Moment().Add(time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	return list[0].URL
}

// manifestToken returns the token of the ready task's manifest.
func manifestToken(t *testing.T) string {
	t.Helper()
	signed, err := newLinks(t).Manifest(export.Task{
		ID: ready, Tenant: keyedtest.Tenants()[keyedtest.PublicA], Manifest: export.Manifest{Key: "k"},
		FilesUntil: keyedtest.Moment().Add(time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(signed.URL, path(ready, export.ManifestName))
}

func path(id, fileName string) string {
	return "/bridge/fhir/ehi-export/" + id + "/download/" + fileName
}

func newHandler(t *testing.T, now time.Time) http.Handler {
	t.Helper()
	return downloadexport.New(downloadexport.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}}, Tasks: tasks{}, Links: newLinks(t),
		Downloads: downloads{},
		Now:       func() time.Time { return now },
	})
}

// found returns the headers that redirect a GET or HEAD request to a task's file.
func found(method, id string) map[string]string {
	return map[string]string{
		"Location": "https://files.example/?" + method + "|key of " + id + "|" + id +
			".jsonl|application/fhir+ndjson|10m0s",
		"Content-Type": "", "Referrer-Policy": "no-referrer",
	}
}

func TestDownloadRequiresTokenOrOwnerKey(t *testing.T) {
	t.Parallel()
	missing := keyedtest.FailureBody("svc_not_found", "Export not found.")
	expired := keyedtest.FailureBody("svc_export_expired",
		"The files of this export have been deleted. Request a new export.")
	invalid := keyedtest.FailureBody("svc_unauthorized_client", "The download link is not valid.")
	needed := keyedtest.FailureBody("svc_unauthorized_client",
		"Use the complete download link, including its token, or authenticate with the organisation's public ID and "+
			"private key.")
	token := strings.TrimPrefix(link(t, ready), path(ready, ready+".jsonl"))
	for name, e := range map[string]keyedtest.Exchange{
		"the link": {Path: link(t, ready), Status: 302, Header: found("GET", ready)},
		"the link, dashed": {
			Path: path(dashed, ready+".jsonl") + token, Status: 302,
			Header: found("GET", ready),
		},
		"the key": {
			Path: path(ready, ready+".jsonl"), User: keyedtest.PublicA, Status: 302,
			Header: found("GET", ready),
		},
		"the key, dashed": {
			Path: path(dashed, ready+".jsonl"), User: keyedtest.PublicA, Status: 302,
			Header: found("GET", ready),
		},
		"HEAD": {
			Method: http.MethodHead, Path: link(t, ready), Status: 302,
			Header: found("HEAD", ready),
		},
		"the manifest": {
			Path: path(ready, "manifest.json") + manifestToken(t), Status: 302,
			Header: map[string]string{
				"Location": "https://files.example/?GET|manifest of " + ready + "|manifest.json|application/json|10m0s",
			},
		},
		"the manifest with the file's token": {Path: path(ready, "manifest.json") + token, Status: 401, Want: invalid},
		"the file with the manifest's token": {
			Path: path(ready, ready+".jsonl") + manifestToken(t), Status: 401, Want: invalid,
		},
		"another organisation's manifest": {
			Path: path(ready, "manifest.json"), User: keyedtest.PublicB, Status: 404, Want: missing,
		},
		"an expired manifest": {
			Path: path(old, "manifest.json"), User: keyedtest.PublicA, Status: 410, Want: expired,
		},
		"neither":                   {Path: path(ready, ready+".jsonl"), Status: 401, Want: needed},
		"a false token":             {Path: path(ready, ready+".jsonl") + "?token=1.e30.AAAA", Status: 401, Want: invalid},
		"the token of another task": {Path: path(old, old+".jsonl") + token, Status: 401, Want: invalid},
		"the token of another file": {Path: path(ready, "other.jsonl") + token, Status: 401, Want: invalid},
		"two tokens": {
			Path: link(t, ready) + "&token=x", Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "token must not be repeated."),
		},
		"a wrong key beside the token": {
			Path: link(t, ready), User: keyedtest.PublicA, Key: "other", Status: 302,
			Header: found("GET", ready),
		},
		"a wrong key, a false token": {
			Path: path(ready, ready+".jsonl") + "?token=1.e30.AAAA", User: keyedtest.PublicA,
			Key: "other", Status: 401, Want: invalid,
		},
		"a wrong key": {
			Path: path(ready, ready+".jsonl"), User: keyedtest.PublicA, Key: "other",
			Status: 401, Want: keyedtest.Unauthorized,
		},
		"the key and a false token": {
			Path: path(ready, ready+".jsonl") + "?token=1.e30.AAAA", User: keyedtest.PublicA,
			Status: 302, Header: found("GET", ready),
		},
		"another organisation's key": {
			Path: path(ready, ready+".jsonl"), User: keyedtest.PublicB, Status: 404,
			Want: missing,
		},
		"the other mode's key": {
			Path: path(ready, ready+".jsonl"), User: keyedtest.LiveA, Status: 404,
			Want: missing,
		},
		"another's key and the token": {
			Path: link(t, ready), User: keyedtest.PublicB, Status: 302,
			Header: found("GET", ready),
		},
		"another's key, a false token": {
			Path: path(ready, ready+".jsonl") + "?token=1.e30.AAAA", User: keyedtest.PublicB,
			Status: 404, Want: missing,
		},
		"another file": {
			Path: path(ready, "other.jsonl"), User: keyedtest.PublicA, Status: 404,
			Want: missing,
		},
		"an unknown task": {
			Path: path("00000000000040008000000000000009", "x.jsonl"), User: keyedtest.PublicA,
			Status: 404, Want: missing,
		},
		"no task id": {
			Path: path("task-1", "x.jsonl"), User: keyedtest.PublicA, Status: 404,
			Want: missing,
		},
		"no task id and no key": {Path: path("task-1", "x.jsonl"), Status: 404, Want: missing},
		"pending": {
			Path: path(pending, pending+".jsonl"), User: keyedtest.PublicA, Status: 404,
			Want: missing,
		},
		"expired, by key":              {Path: path(old, old+".jsonl"), User: keyedtest.PublicA, Status: 410, Want: expired},
		"expired, by token":            {Path: link(t, old), Status: 410, Want: expired},
		"our own failure":              {Path: link(t, broken), Status: 500, Want: keyedtest.ServerError},
		"a file that cannot be signed": {Path: link(t, unsigned), Status: 500, Want: keyedtest.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Check(t, downloadexport.Route, newHandler(t, keyedtest.Moment()))
		})
	}
}

func TestDownloadTokenExpiresWithFile(t *testing.T) {
	t.Parallel()
	keyedtest.Exchange{
		Path: link(t, ready), Status: 410,
		Want: keyedtest.FailureBody("svc_export_expired",
			"The files of this export have been deleted. Request a new export."),
	}.Check(t, downloadexport.Route, newHandler(t, keyedtest.Moment().Add(time.Minute)))
}

func TestDownloadRejectsOtherMethods(t *testing.T) {
	t.Parallel()
	allow := map[string]string{"Allow": "GET, HEAD, OPTIONS"}
	allowed := keyedtest.FailureBody("svc_method_not_allowed",
		"This method is not allowed for this URL. Allowed methods: GET, HEAD, OPTIONS.")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		keyedtest.Exchange{Method: method, Path: link(t, ready), Status: 405, Want: allowed, Header: allow}.Check(t,
			downloadexport.Route, newHandler(t, keyedtest.Moment()))
	}
	keyedtest.Exchange{Method: http.MethodOptions, Path: link(t, ready), Status: 204, Header: allow}.Check(t,
		downloadexport.Route, newHandler(t, keyedtest.Moment()))
}
