package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/ids"
)

type access int

const (
	keyed      access = iota + 1 // HTTP Basic authentication
	keyedList                    // JSON for backends; the key selects the organisation whose list is returned
	keyedMode                    // JSON for backends; all keys for a mode return the same list
	keyedTest                    // JSON for backends, authenticated with a test key
	byPublicID                   // JSON for browsers, identified by a public ID
	page                         // a page that a browser can open
	ownForm                      // a page that only a form on one of the service's pages can open
	bearer                       // JSON for browsers, with a public ID and the attempt's bearer token
	open                         // no access control
	foreign                      // the sandbox's simulation of a third-party server
)

// routeAccess returns the access control of every route except those that readers returns. A test fails if a route in
// the template has no entry, so no route is left unprotected.
func routeAccess() map[string]access {
	return map[string]access{
		"GET /bridge/connect":                                      page,
		"POST /bridge/connect":                                     ownForm,
		"GET /bridge/reconnect":                                    page,
		"POST /bridge/attempts":                                    byPublicID,
		"GET /bridge/attempts/{attemptId}":                         bearer,
		"DELETE /bridge/attempts/{attemptId}":                      bearer,
		"GET /.well-known/jwks.json":                               open,
		"GET /.well-known/manifest-jwks.json":                      open,
		"DELETE /bridge/org_connection/{orgConnectionId}":          keyed,
		"GET /bridge/callback":                                     page,
		"GET /bridge/callback/{registration}":                      page,
		"GET /bridge/org":                                          byPublicID,
		"GET /bridge/tefca/identity":                               byPublicID,
		"POST /bridge/tefca/identity":                              byPublicID,
		"POST /bridge/tefca/identity/start":                        ownForm,
		"GET /bridge/tefca/identity/callback/{provider}":           page,
		"GET /bridge/tefca/records/{attemptId}":                    byPublicID, // the attempt's token is required too
		"DELETE /bridge/tefca/records/{attemptId}":                 byPublicID, // the attempt's token is required too
		"POST /bridge/tefca/records/{attemptId}/authorization":     byPublicID, // the attempt's token is required too
		"POST /bridge/vault_connection/revoke":                     keyedTest,
		"POST /bridge/fhir/ehi-export":                             keyed,
		"GET /bridge/fhir/ehi-export/{taskId}":                     keyed,
		"GET /bridge/fhir/ehi-export/{taskId}/download/{fileName}": keyed,
		"DELETE /bridge/fhir/ehi-export/{taskId}/files":            keyed,
		"GET /bridge/org_connection/{orgConnectionId}":             keyed,
		"POST /bridge/catalog/search":                              byPublicID,
		"POST /bridge/email/codes":                                 byPublicID,
		"POST /bridge/email/verification":                          byPublicID,
		"POST /support/healthsystem":                               byPublicID,
		"POST /support/request":                                    byPublicID,
		"GET /bridge/catalog":                                      byPublicID,
		"GET /bridge/catalog/export":                               keyedMode,
		"GET /widget/embed":                                        page,
		"GET /widget/connect":                                      page,
		"GET /widget/assets/{file}":                                open,
		"GET /sdk/{version}/{file}":                                open,
		"GET /sdk/manifest.json":                                   open,
		"GET /record-view.js":                                      open,
		"GET /demo":                                                open,
		"GET /dashboard":                                           open,
		"GET /health":                                              open,
		"GET /docs":                                                open,
		"GET /docs/{proxy+}":                                       open,
		"ANY /sandbox/{proxy+}":                                    foreign,
	}
}

// fixture is a stack with a finished export, whose IDs the tests of attacks use.
type fixture struct {
	*stack

	connectionID, taskID, file string
}

// finished is a fixture for tests that access the stack only through the public API.
type finished struct {
	*outside

	connectionID, taskID, file string
}

func newFinished(o *outside) finished {
	o.t.Helper()
	f := finished{outside: o, connectionID: o.patient.connect(crashPersona, "approve").Get("org_connection_id")}
	f.taskID = o.org.startExport(f.connectionID)
	o.webhooks.awaitEvents("patient.ehi_export_success", 1)
	f.file = f.taskID + ".jsonl"
	return f
}

func (f fixture) finished() finished { return finished{f.outside, f.connectionID, f.taskID, f.file} }

func newFixture(t *testing.T) fixture {
	t.Helper()
	return newFixtureWith(t, options{})
}

func newFixtureWith(t *testing.T, o options) fixture {
	t.Helper()
	s := newStack(t, o)
	f := fixture{stack: s, connectionID: s.patient.connect(crashPersona, "approve").Get("org_connection_id")}
	f.taskID = s.org.startExport(f.connectionID)
	s.clock.finish(5)
	f.file = f.taskID + ".jsonl"
	return f
}

func (f finished) as(route template.Route, publicID, privateKey string) answer {
	f.t.Helper()
	path := strings.NewReplacer("{taskId}", f.taskID, "{fileName}", f.file, "{orgConnectionId}",
		f.connectionID).Replace(route.Path)
	var body any
	if route.Method == http.MethodPost {
		body = map[string]string{"org_connection_id": f.connectionID, "email": "linden.heath@tefca.example"}
	}
	return f.call(route.Method, path, publicID, privateKey, body)
}

func TestRoutesEnforceAccessFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		declared, err := usual()
		expect.NoError(t, err)
		f := newFinished(o)
		known, seen := routeAccess(), map[string]bool{}
		for _, route := range readers(t) {
			known[route.Method+" "+route.Path] = keyedList
		}
		for _, function := range declared.Functions {
			// TestDashboardEnforcesDocumentedPermissions covers the dashboard's functions.
			if strings.HasPrefix(function.Folder, "dashboard") {
				continue
			}
			for _, route := range f.methods(t, function, known) {
				name := route.Method + " " + route.Path
				kind, ok := known[name]
				if seen[name] { // several functions can serve different methods of the same path
					continue
				}
				seen[name] = true
				switch {
				case !ok:
					t.Errorf("%s: say in routeAccess who may call it", name)
				case kind == keyed:
					f.checkKeyed(t, route, http.StatusNotFound, "svc_not_found")
				case kind == keyedList:
					f.checkKeyed(t, route, http.StatusOK, "")
				case kind == keyedTest:
					f.checkKeys(t, route, expected{http.StatusOK, ""}, expected{http.StatusForbidden, "svc_forbidden_mode"})
				case kind == keyedMode:
					f.checkMode(t, route)
				case kind == byPublicID:
					f.checkPublicID(t, route, http.StatusUnauthorized, "svc_unauthorized_client")
				case kind == ownForm:
					f.checkOwnForm(t, route)
				case kind == bearer:
					f.checkPublicID(t, route, http.StatusUnauthorized, "svc_unauthorized_client")
					checkBearer(t, f.outside)
				case kind == page && !strings.HasPrefix(route.Path, "/bridge/callback") &&
					!strings.HasPrefix(route.Path, "/bridge/tefca/identity/"):
					f.checkPublicID(t, route, http.StatusBadRequest, "")
				}
			}
		}
		if len(seen) < len(known) {
			t.Errorf("of the %d routes in routeAccess there are %d", len(known), len(seen))
		}
	})
}

// methods lists the function's routes, one for each method. A route with method ANY is replaced by one route for each
// method in the Allow header of its 405 response.
func (f finished) methods(t *testing.T, function template.Function, known map[string]access) []template.Route {
	t.Helper()
	var all []template.Route
	for _, route := range function.Routes {
		if route.Method != "ANY" || known["ANY "+route.Path] == foreign {
			all = append(all, route)
			continue
		}
		for method := range strings.SplitSeq(f.checkOtherMethods(t, route), ", ") {
			if method != http.MethodHead && method != http.MethodOptions {
				all = append(all, template.Route{Method: method, Path: route.Path})
			}
		}
	}
	return all
}

// checkPublicID checks that the route rejects an unknown public ID without an authentication challenge, because a
// challenge would make the browser open a password dialog.
func (f finished) checkPublicID(t *testing.T, route template.Route, status int, code string) {
	t.Helper()
	for _, publicID := range []string{
		"", "public_test_" + ids.Random(),
		"public_live_" + strings.TrimPrefix(f.seeded.Organisations[0].PublicID, "public_test_"), "'\"<script>",
	} {
		got := f.call(route.Method, route.Path+"?public_id="+
			strings.NewReplacer("'", "%27", "\"", "%22", "<", "%3C", ">", "%3E").Replace(publicID), "", "", nil)
		wantStatus, wantCode := status, code
		if publicID == "" {
			wantStatus, wantCode = http.StatusBadRequest,
				strings.Replace(code, "svc_unauthorized_client", "svc_invalid_request", 1)
		}
		if got.status != wantStatus || got.Error != wantCode || got.header.Get("X-Amzn-Remapped-Www-Authenticate") != "" ||
			got.header.Get("Location") != "" {
			t.Errorf("%s with public id %q: got %d %s %v", route.Path, publicID, got.status, got.Error, got.header)
		}
	}
}

// checkOwnForm checks that the route rejects requests that were not sent by a form on one of the service's pages, with
// or without a public ID. A rejected request must not start an attempt.
func (f finished) checkOwnForm(t *testing.T, route template.Route) {
	t.Helper()
	for _, query := range []string{"", "?public_id=" + f.seeded.Organisations[0].PublicID, "?attempt=x"} {
		got := f.call(route.Method, route.Path+query, "", "", nil)
		if got.status != http.StatusBadRequest || got.header.Get("Location") != "" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s%s: got %d %v", route.Path, query, got.status, got.header)
		}
	}
}

// checkOtherMethods checks that the route rejects unsupported methods, and returns the response's Allow header.
func (f finished) checkOtherMethods(t *testing.T, route template.Route) string {
	t.Helper()
	route.Method = http.MethodPut
	own := f.seeded.Organisations[0]
	got := f.as(route, own.PublicID, own.PrivateKey)
	isPage := routeAccess()["POST "+route.Path] == ownForm &&
		strings.HasPrefix(got.header.Get("Content-Type"), "text/html")
	if got.status != http.StatusMethodNotAllowed || (got.Error != "svc_method_not_allowed" && !isPage) ||
		got.header.Get("Allow") == "" {
		t.Errorf("PUT %s: got %d %s, Allow %q", route.Path, got.status, got.Error, got.header.Get("Allow"))
	}
	return got.header.Get("Allow")
}

func TestRevokedKeyStopsWorkingWithin30Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		own := f.seeded.Organisations[0]
		_, second, err := f.operator.Credentials.AddKey(t.Context(), own.PublicID)
		expect.NoError(t, err)
		<-time.After(31 * time.Second)
		path := "/bridge/org_connection/" + f.connectionID
		for _, key := range []string{own.PrivateKey, second.Reveal()} {
			if got := f.call(http.MethodGet, path, own.PublicID, key, nil); got.status != http.StatusOK {
				t.Fatalf("one of two live keys: got %d %s", got.status, got.Error)
			}
		}
		had, err := f.operator.Credentials.Show(t.Context(), own.PublicID)
		expect.NoError(t, err)
		_, _, err = f.operator.Credentials.Revoke(t.Context(), own.PublicID, operator.Revocation{KeyID: had.Keys[0].ID})
		expect.NoError(t, err)
		<-time.After(31 * time.Second)
		if got := f.call(http.MethodGet, path, own.PublicID, own.PrivateKey, nil); got.status != http.StatusUnauthorized {
			t.Errorf("the revoked key: got %d %s", got.status, got.Error)
		}
		if got := f.call(http.MethodGet, path, own.PublicID, second.Reveal(), nil); got.status != http.StatusOK {
			t.Errorf("the other key: got %d %s", got.status, got.Error)
		}
	})
}

func TestUnknownPathReturnsErrorEnvelope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		for _, path := range []string{
			"/", "/bridge", "/bridge/nothing", "/bridge/fhir/ehi-export/a/b/c/d",
			"/../v1/bridge/org",
		} {
			got := s.org.request(http.MethodGet, path, nil)
			if got.status != http.StatusNotFound || got.Error != "svc_not_found" || got.Request == "" {
				t.Errorf("%s: got %d %s", path, got.status, got.Error)
			}
		}
	})
}

// TestLogsContainNoSecrets runs a complete export and searches the functions' logs for secrets.
func TestLogsContainNoSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.org.download(f.webhooks.exportEvent().DownloadLinks[0].URL)
		f.check.logsHoldNoSecret(t)
	})
}

func (s checks) logsHoldNoSecret(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	logged := s.logs.String()
	if !strings.Contains(logged, "http.request") || !strings.Contains(logged, "exportworker.message") {
		t.Fatalf("the log is not what it was: %.300s", logged)
	}
	for _, o := range s.seeded.Organisations {
		for _, secret := range []string{o.PrivateKey, o.WebhookSecret} {
			if secret != "" && strings.Contains(logged, secret) {
				t.Error("a key or webhook secret is in the log")
			}
		}
	}
	for _, person := range s.seeded.Sandbox.Personas {
		if strings.Contains(logged, person.PatientID) {
			t.Errorf("patient id %s is in the log", person.PatientID)
		}
	}
	for _, word := range []string{"token=", "code=", "state=", "Juniper", "resourceType"} {
		if at := strings.Index(logged, word); at >= 0 {
			t.Errorf("%q is in the log: %s", word, logged[max(at-300, 0):min(at+100, len(logged))])
		}
	}
}
