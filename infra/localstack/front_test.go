package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"recordbridge/infra/local/inbox"
)

// fronted returns a front server for a fake LocalStack that echoes requests, or redirects or fails if the query says
// so.
func fronted(t *testing.T) *front {
	t.Helper()
	localstack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", strings.ReplaceAll(to, "PORT", r.Header.Get("X-Port")))
			w.WriteHeader(http.StatusFound)
		}
		switch r.URL.Query().Get("refuse") {
		case "path":
			w.Header().Set("X-Amzn-Errortype", "MissingAuthenticationTokenException")
			w.WriteHeader(http.StatusForbidden)
		case "deployment":
			w.WriteHeader(http.StatusNotFound)
		case "record":
			w.Header().Set("X-Amz-Apigw-Id", "a=")
			w.WriteHeader(http.StatusNotFound)
		case "function":
			w.WriteHeader(http.StatusForbidden)
		case "key":
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+r.URL.RequestURI())
	}))
	t.Cleanup(localstack.Close)
	nowhere, err := newNowhere(options{source: "../..", address: "127.0.0.1:4580"})
	if err != nil {
		t.Fatal(err)
	}
	f := &front{
		inbox: inbox.New(inboxPath), nowhere: nowhere, aws: localstack.Listener.Addr().String(),
		inside: netip.MustParseAddr("172.17.0.1"),
	}
	f.serveAPI("abc")
	return f
}

func asked(f *front, method, host, target string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, strings.NewReader("body"))
	request.Host = host
	request.Header.Set("X-Port", port(f.aws))
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, request)
	return recorder
}

// sent sends a POST request to the front server, as a webhook worker would, and returns the response's status.
func sent(f *front, target, body string) int {
	request := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	request.Host = "localhost:4580"
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, request)
	return recorder.Code
}

func TestFrontForwardsRequestsToAPI(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	for name, test := range map[string]struct {
		method, host, target string
		status               int
		body                 string
	}{
		"the API": {
			"GET", "localhost:4580", "/v1/bridge/a%2Fb?c=d%26", 200,
			"GET localhost:4580 /_aws/execute-api/abc/v1/bridge/a%2Fb?c=d%26",
		},
		"from a container": {
			"POST", "172.17.0.1:4580", "/v1/sandbox/token", 200,
			"POST 172.17.0.1:4580 /_aws/execute-api/abc/v1/sandbox/token",
		},
		"outside of the stage": {"GET", "localhost:4580", "/bridge", 404, "404 page not found"},
		"another's name":       {"GET", "example.org:4580", "/v1/bridge", 421, "this machine's names"},
		"another machine's":    {"GET", "172.17.0.9:4580", "/v1/bridge", 421, "this machine's names"},
		"where a patient ends": {
			"GET", "127.0.0.1:4580", "/_local/return?org_connection_id=a", 200,
			"This page stands in for the application.",
		},
		"a webhook": {"POST", "localhost:4580", "/_local/inbox/alder", 200, ""},
	} {
		got := asked(f, test.method, test.host, test.target)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.body) {
			t.Errorf("%s: got %d %s, want %d %s", name, got.Code, got.Body, test.status, test.body)
		}
	}
	if all := f.inbox.List(); len(all) != 1 || all[0].Path != inboxPath+"/alder" {
		t.Errorf("the inbox has %v", all)
	}
	f.api.Store(nil)
	if got := asked(f, "GET", "localhost:4580", "/v1/bridge"); got.Code != http.StatusServiceUnavailable {
		t.Errorf("before the stack is deployed: %d", got.Code)
	}
}

// TestFrontRewritesFileURLsToLocalHost covers URLs that a function signed for LocalStack's address inside a container.
func TestFrontRewritesFileURLsToLocalHost(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	for to, want := range map[string]string{
		"http://172.17.0.1:PORT/bucket/key":  "http://" + f.aws + "/bucket/key",
		"http://172.17.0.2:4566/bucket/key":  "http://" + f.aws + "/bucket/key",
		"http://172.17.0.2:8080/elsewhere":   "http://172.17.0.2:8080/elsewhere",
		"http://localhost:4580/_local":       "http://localhost:4580/_local",
		"https://portal.example.org:4566/in": "https://portal.example.org:4566/in",
	} {
		if got := asked(f, "GET", "localhost:4580", "/v1/a?to="+to).Header().Get("Location"); got != want {
			t.Errorf("%s: leads to %s, want %s", to, got, want)
		}
	}
}

// TestFrontReturnsSameErrorsAsAPIGateway covers the differences between LocalStack's gateway and API Gateway: the
// template's response for an unknown path, AWS's name for the authentication challenge header, and a temporarily
// missing API. A function's own error response must pass through unchanged.
func TestFrontReturnsSameErrorsAsAPIGateway(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	unknown := asked(f, "GET", "localhost:4580", "/v1/bridge/nothing?refuse=path")
	id := unknown.Header().Get("X-Request-Id")
	want := `{"success":false,"error":"svc_not_found","error_description":"There is nothing at this path.",` +
		`"request_id":"` + id + `"}`
	if unknown.Code != http.StatusNotFound || id == "" || unknown.Body.String() != want ||
		unknown.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("an unknown path: got %d %v %s", unknown.Code, unknown.Header(), unknown.Body)
	}
	challenged := asked(f, "GET", "localhost:4580", "/v1/bridge/events?refuse=key")
	if header := challenged.Header(); header.Get("X-Amzn-Remapped-Www-Authenticate") != "Basic" ||
		header.Get("Www-Authenticate") != "" {
		t.Errorf("a challenge: got %v", header)
	}
	if refused := asked(f, "GET", "localhost:4580",
		"/v1/bridge/events?refuse=function"); refused.Code != http.StatusForbidden {
		t.Errorf("a function's 403: got %d", refused.Code)
	}
	for refused, want := range map[string]int{"record": http.StatusNotFound, "deployment": http.StatusServiceUnavailable} {
		if got := asked(f, "GET", "localhost:4580", "/v1/sandbox/fhir/Patient?refuse="+refused); got.Code != want {
			t.Errorf("without a %s: got %d, want %d", refused, got.Code, want)
		}
	}
	f.aws = "127.0.0.1:1"
	f.serveAPI("abc")
	if gone := asked(f, "GET", "localhost:4580", "/v1/bridge/events"); gone.Code != http.StatusBadGateway {
		t.Errorf("without LocalStack: got %d", gone.Code)
	}
}
