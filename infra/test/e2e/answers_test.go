package e2e_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/local/faults"
	"recordbridge/infra/test/contract"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/starttest"
)

// request is a valid request for an operation of docs/openapi.yaml.
type request struct {
	method, path string
	authorize    string
	body         string
	form         string  // form body, sent instead of a JSON body
	as           *person // person from whose dashboard session the request is sent
}

// requests returns a valid request for each operation, keyed by the operation's name in the document. Requests that
// delete data come last.
func (f fixture) requests() map[string]request {
	own := f.seeded.Organisations[0]
	f.catalog.goLive("test", f.catalog.institutions(0))
	key := "Basic " + base64.StdEncoding.EncodeToString([]byte(own.PublicID+":"+own.PrivateKey))
	public := "?public_id=" + url.QueryEscape(own.PublicID)
	sent, code := f.staff.sendCode(patientsAddress)
	made := f.patient.makeAttempt(map[string]string{"endpoint_id": f.seeded.Sandbox.EndpointID})
	export := "/bridge/fhir/ehi-export/" + f.taskID
	connection := "/bridge/org_connection/" + f.connectionID
	asset, pinned := "/widget/assets/embed-AB12CD34.js", "/sdk/4.0.7/svc-widget.js"
	f.keepReleased(asset, pinned)
	verified, facilities := f.vault.locateFacilities()
	begun := f.vault.beginVerification("")
	all := map[string]request{
		"GET /bridge/tefca/identity": {
			method: http.MethodGet,
			path:   "/bridge/tefca/identity" + public,
		},
		"POST /bridge/tefca/identity": {
			method: http.MethodPost,
			path:   "/bridge/tefca/identity" + public, body: `{"provider":"simulated"}`,
		},
		"POST /bridge/tefca/identity/start": {
			method: http.MethodPost,
			path:   "/bridge/tefca/identity/start", form: starttest.Body(f.vault.beginVerification("").Start),
		},
		"GET /bridge/tefca/identity/callback/{provider}": {
			method: http.MethodGet,
			path:   "/bridge/tefca/identity/callback/simulated?state=x&code=y",
		},
		"GET /bridge/tefca/records/{attemptId}": {
			method: http.MethodGet,
			path:   "/bridge/tefca/records/" + verified.ID + public, authorize: "Bearer " + verified.Token,
		},
		"DELETE /bridge/tefca/records/{attemptId}": {
			method: http.MethodDelete,
			path:   "/bridge/tefca/records/" + begun.ID + public, authorize: "Bearer " + begun.Token,
		},
		"POST /bridge/tefca/records/{attemptId}/authorization": {
			method: http.MethodPost,
			path:   "/bridge/tefca/records/" + verified.ID + "/authorization" + public, authorize: "Bearer " + verified.Token,
			body: `{"tefca_directory_ids":["` + facilities[0] + `"]}`,
		},
		"POST /bridge/vault_connection/revoke": {
			method: http.MethodPost,
			path:   "/bridge/vault_connection/revoke", authorize: key, body: `{"email":"alder.fenn@tefca.example"}`,
		},
		"GET /bridge/connect": {
			method: http.MethodGet,
			path:   "/bridge/connect" + public,
		},
		"POST /bridge/connect": {
			method: http.MethodPost, path: "/bridge/connect",
			form: starttest.Body(made.Start),
		},
		"GET /bridge/reconnect": {
			method: http.MethodGet,
			path:   "/bridge/reconnect" + public,
		},
		"POST /bridge/attempts": {
			method: http.MethodPost,
			path:   "/bridge/attempts" + public, body: `{"endpoint_id":"` + f.seeded.Sandbox.EndpointID + `"}`,
		},
		"GET /bridge/attempts/{attemptId}": {
			method: http.MethodGet,
			path:   "/bridge/attempts/" + made.ID + public, authorize: "Bearer " + made.Token,
		},
		"DELETE /bridge/attempts/{attemptId}": {
			method: http.MethodDelete,
			path:   "/bridge/attempts/" + made.ID + public, authorize: "Bearer " + made.Token,
		},
		"GET /bridge/callback": {
			method: http.MethodGet,
			path:   "/bridge/callback?state=x&code=y",
		},
		"GET /bridge/callback/{registration}": {
			method: http.MethodGet,
			path:   "/bridge/callback/z?state=x&code=y",
		},
		"GET /widget/embed": {method: http.MethodGet, path: "/widget/embed" + public},
		"GET /widget/connect": {
			method: http.MethodGet,
			path:   "/widget/connect" + public,
		},
		"GET /widget/assets/{file}": {method: http.MethodGet, path: asset},
		"GET /sdk/{version}/{file}": {method: http.MethodGet, path: pinned},
		"GET /bridge/org":           {method: http.MethodGet, path: "/bridge/org" + public},
		"POST /bridge/email/codes": {
			method: http.MethodPost,
			path:   "/bridge/email/codes" + public, body: `{"email":"other@mailbox.example"}`,
		},
		"POST /bridge/email/verification": {
			method: http.MethodPost,
			path:   "/bridge/email/verification" + public, body: `{"verification_id":"` + sent.ID + `","code":"` + code + `"}`,
		},
		"POST /support/healthsystem": {
			method: http.MethodPost,
			path:   "/support/healthsystem" + public, body: `{"email":"a@mailbox.example","name":"Alder"}`,
		},
		"POST /support/request": {
			method: http.MethodPost,
			path:   "/support/request" + public, body: `{"email":"a@mailbox.example","name":"Ada","subject":"Help","body":"Me"}`,
		},
		"POST /bridge/catalog/search": {
			method: http.MethodPost,
			path:   "/bridge/catalog/search" + public, body: `{"query":"sandbox"}`,
		},
		"GET /bridge/catalog": {
			method: http.MethodGet,
			path:   "/bridge/catalog" + public + "&brand_id=" + f.seeded.Sandbox.BrandID,
		},
		"GET /bridge/catalog/export": {
			method: http.MethodGet, path: "/bridge/catalog/export",
			authorize: key,
		},
		"GET /.well-known/manifest-jwks.json": {method: http.MethodGet, path: "/.well-known/manifest-jwks.json"},
		"GET /.well-known/jwks.json":          {method: http.MethodGet, path: "/.well-known/jwks.json"},
		"GET /bridge/events": {
			method: http.MethodGet, path: "/bridge/events",
			authorize: key,
		},
		"POST /bridge/fhir/ehi-export": {
			method: http.MethodPost, path: "/bridge/fhir/ehi-export",
			authorize: key, body: `{"org_connection_id":"` + f.connectionID + `"}`,
		},
		"GET /bridge/fhir/ehi-export/{taskId}": {method: http.MethodGet, path: export, authorize: key},
		"GET /bridge/fhir/ehi-export/{taskId}/download/{fileName}": {
			method: http.MethodGet,
			path:   export + "/download/" + f.file, authorize: key,
		},
		"GET /bridge/org_connection/{orgConnectionId}": {
			method: http.MethodGet, path: connection,
			authorize: key,
		},
		"DELETE /bridge/fhir/ehi-export/{taskId}/files": {
			method: http.MethodDelete, path: export + "/files",
			authorize: key,
		},
		"DELETE /bridge/org_connection/{orgConnectionId}": {
			method: http.MethodDelete, path: connection,
			authorize: key,
		},
	}
	leaving := f.staff.newPerson("carol@alder.example")
	leaving.signIn()
	maps.Copy(all, f.staff.dashboardRequests(f.staff.newOwner(), leaving))
	return all
}

func (f fixture) ask(t *testing.T, of request, changes ...func(r *http.Request)) contract.Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), of.method, baseURL+of.path, strings.NewReader(of.body+of.form))
	expect.NoError(t, err)
	if of.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if of.authorize != "" {
		r.Header.Set("Authorization", of.authorize)
	}
	if of.form != "" {
		r.Header = starttest.Header(host)
	}
	if of.as != nil {
		of.as.sign(r)
	}
	for _, change := range changes {
		change(r)
	}
	response, err := f.Do(r)
	expect.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	expect.NoError(t, err)
	return contract.Answer{Status: response.StatusCode, Header: response.Header, Body: body}
}

// wrong describes a request that must fail and its expected status.
type wrong struct {
	status int
	rules  []faults.Rule
	slow   bool // whether functions exceed API Gateway's timeout
	// change modifies a request, or returns false if the change does not apply to the operation.
	change func(operation string, r *http.Request) (is bool)
}

func wrongs() map[string]wrong {
	// files are public and ignore query parameters
	isFile := func(operation string) bool { return strings.HasSuffix(operation, "{file}") }
	every := func(string, *http.Request) bool { return true }
	isForm := func(operation string) bool {
		return strings.HasSuffix(operation, "/start") || operation == "POST /bridge/connect"
	} // form operations return 400 for both kinds of invalid body
	return map[string]wrong{
		"a failing service": {status: http.StatusInternalServerError, rules: all(faults.FailedBefore), change: every},
		"a silent service":  {status: http.StatusBadGateway, rules: all(faults.TimedOutBefore), change: every},
		"a function too slow": {
			status: http.StatusGatewayTimeout, rules: all(faults.TimedOutBefore), slow: true,
			change: every,
		},
		"an unknown method": {status: http.StatusMethodNotAllowed, change: func(operation string, r *http.Request) bool {
			r.Method = http.MethodPut
			_, path, _ := strings.Cut(operation, " ") // skips the paths below, which support PUT
			return !slices.Contains([]string{
				"/dashboard/account/totp", "/dashboard/account/email",
				"/dashboard/organisations/{orgId}/emails",
			}, path)
		}},
		"what cannot be read": {status: http.StatusBadRequest, change: func(operation string, r *http.Request) bool {
			switch {
			case isFile(operation):
				return false
			case r.ContentLength > 0:
				r.Body = io.NopCloser(strings.NewReader("{"))
			case strings.Contains(operation, " /dashboard/"), strings.Contains(operation, "{orgConnectionId}"),
				strings.HasSuffix(operation, "/files"), strings.HasSuffix(operation, "/export"),
				strings.HasSuffix(operation, "/manifest-jwks.json"):
				r.URL.RawQuery = "%zz" // any other invalid input would lead to an unknown path
			default:
				r.URL.RawQuery += "&public_id=a&public_id=b&include=a&limit=a&token=a&token=b&kty=a&state=a&state=b"
			}
			return true
		}},
		"a body too large": {status: http.StatusRequestEntityTooLarge, change: func(operation string, r *http.Request) bool {
			r.Body = io.NopCloser(bytes.NewReader(make([]byte, 64<<10+1)))
			return r.ContentLength > 0 && !isForm(operation)
		}},
		"a body of another type": {
			status: http.StatusUnsupportedMediaType,
			change: func(operation string, r *http.Request) bool {
				r.Header.Set("Content-Type", "text/plain")
				return r.ContentLength > 0 && !isForm(operation)
			},
		},
		"too many requests": {status: http.StatusTooManyRequests, change: func(operation string, r *http.Request) bool {
			if strings.HasSuffix(operation, "/bridge/connect") || strings.HasSuffix(operation, "reconnect") {
				// an unregistered URI, because the response would redirect to a registered URI
				r.URL.RawQuery += "&redirect_uri=https://elsewhere.example"
			}
			return !isFile(operation)
		}},
	}
}

// all returns fault rules that break the dependencies of every operation: the tables, the keys of the JWKS and other
// releases' files.
func all(kind faults.Kind) []faults.Rule {
	return []faults.Rule{
		{Service: "dynamodb", Kind: kind},
		{Caller: "JwksFunction", Service: "kms", Kind: kind},
		{Caller: "WebFunction", Service: "s3", Kind: kind},
	}
}

// TestOperationsReturnDocumentedErrors checks that every operation returns the documented status if the request is
// invalid or a dependency fails. The test's client checks each response against the schema.
func TestOperationsReturnDocumentedErrors(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	for name, w := range wrongs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plan := faults.New(faults.Options{Severity: faults.Severity{Silence: time.Hour}, Rules: w.rules})
				f := newFixtureWith(t, options{plan: plan})
				f.checkWrong(t, w)
			})
		})
	}
}

func (f fixture) checkWrong(t *testing.T, w wrong) {
	t.Helper()
	known := f.requests()
	for _, function := range f.functions {
		if w.slow {
			function.declared.Timeout = time.Minute // simulates a cold start, which Lambda excludes from execution time
		}
		if w.status == http.StatusTooManyRequests {
			for _, rate := range []string{"REQUESTS_PER_MINUTE", "REQUESTS_PER_HOUR", "EXPORTS_PER_HOUR"} {
				function.declared.Environment = withValue(function.declared.Environment, rate, "1")
			}
			function.life, function.serve = nil, nil
		}
	}
	f.plan.Pause(len(w.rules) == 0)
	for operation, of := range known {
		applies := true
		change := func(r *http.Request) { applies = w.change(operation, r) }
		got := f.ask(t, of, change)
		for range 5 {
			if w.status == http.StatusTooManyRequests && got.Status != w.status {
				got = f.ask(t, of, change)
			}
		}
		if applies && got.Status != w.status {
			t.Errorf("%s answered %d %s, want %d", operation, got.Status, got.Body, w.status)
		}
	}
}

// TestCreateAttemptReportsUnreachablePortal checks that creating an attempt at an unreachable portal returns an error,
// so that the page doesn't open a window.
func TestCreateAttemptReportsUnreachablePortal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.intercept = func(r *http.Request) *http.Response {
			if !strings.Contains(r.URL.Path, "/sandbox/") {
				return nil
			}
			return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: http.NoBody, Request: r}
		}
		own := s.seeded.Organisations[0]
		got := s.call(http.MethodPost, "/bridge/attempts?public_id="+own.PublicID, "", "",
			map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID})
		if got.status != http.StatusServiceUnavailable || got.Error != "svc_unavailable" {
			t.Errorf("answered %d %s", got.status, got.raw)
		}
	})
}

// TestAttemptStatusIncludesConsentExpiry checks that an attempt's status contains the consent's expiry time if the
// portal provides it.
func TestAttemptStatusIncludesConsentExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		address, err := url.Parse(s.ehr.connectURLOf(quirk{with: "tell-expiry:authorization_expires_in,refresh:240h"}))
		expect.NoError(t, err)
		made := s.patient.makeAttempt(map[string]string{"endpoint_id": address.Query().Get("endpoint_id")})
		s.patient.openWindow(made)
		got := s.patient.watchAttempt(made)
		if ends, err := time.Parse(time.RFC3339, got.Result.ConsentEnds); err != nil ||
			time.Until(ends).Round(time.Hour) != 240*time.Hour {
			t.Errorf("the attempt is %+v", got)
		}
	})
}

// withValue returns a copy of environment with one value changed. Tests share the original environment and must not
// modify it.
func withValue(environment map[string]string, name, value string) map[string]string {
	changed := maps.Clone(environment)
	changed[name] = value
	return changed
}
