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

// fronted is a front before a LocalStack that answers with what it was asked, and redirects to the address that is asked for.
func fronted(t *testing.T) *front {
	t.Helper()
	localstack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", strings.ReplaceAll(to, "PORT", r.Header.Get("X-Port")))
			w.WriteHeader(http.StatusFound)
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+r.URL.RequestURI())
	}))
	t.Cleanup(localstack.Close)
	f := &front{inbox: inbox.New(inboxPath), aws: localstack.Listener.Addr().String(), inside: netip.MustParseAddr("172.17.0.1")}
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

// sent posts to the front as a webhook worker does, and returns the status.
func sent(f *front, target, body string) int {
	request := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	request.Host = "localhost:4580"
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, request)
	return recorder.Code
}

func TestTheFrontPassesRequestsOnToTheAPIOfTheStack(t *testing.T) {
	t.Parallel()
	f := fronted(t)
	for name, test := range map[string]struct {
		method, host, target string
		status               int
		body                 string
	}{
		"the API":              {"GET", "localhost:4580", "/v1/bridge/a%2Fb?c=d%26", 200, "GET localhost:4580 /_aws/execute-api/abc/v1/bridge/a%2Fb?c=d%26"},
		"from a container":     {"POST", "172.17.0.1:4580", "/v1/sandbox/token", 200, "POST 172.17.0.1:4580 /_aws/execute-api/abc/v1/sandbox/token"},
		"outside of the stage": {"GET", "localhost:4580", "/bridge", 404, "404 page not found"},
		"another's name":       {"GET", "example.org:4580", "/v1/bridge", 421, "names of this machine"},
		"another machine's":    {"GET", "172.17.0.9:4580", "/v1/bridge", 421, "names of this machine"},
		"where a patient ends": {"GET", "127.0.0.1:4580", "/_local/return?org_connection_id=a", 200, "The application would be here."},
		"a webhook":            {"POST", "localhost:4580", "/_local/inbox/alder", 200, ""},
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

// TestAddressesOfFilesLeadToThisMachine: a function signs them for the address at which its container sees LocalStack.
func TestAddressesOfFilesLeadToThisMachine(t *testing.T) {
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
