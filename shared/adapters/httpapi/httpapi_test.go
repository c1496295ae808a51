package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

func TestSuccessIsWrappedInEnvelope(t *testing.T) {
	t.Parallel()
	w := do(keyed(newEdge(), nil), withKey(newRequest("GET", "/things/1", "")))
	wantBody(t, w, 200, `{"success":true,"data":{"text":"hello"}}`)
	wantHeader(t, w, "Content-Type", "application/json")
	wantHeader(t, w, "Cache-Control", "no-store")
	wantHeader(t, w, "X-Request-Id", requestID)
	wantHeader(t, w, "Access-Control-Allow-Origin", "")
}

func TestServeUsesGatewayRequestID(t *testing.T) {
	t.Parallel()
	r := withKey(newRequest("GET", "/things/1", ""))
	r.Header.Set("X-Request-Id", "chosen-by-client")
	w := do(keyed(newEdge(), nil), r.WithContext(logx.WithRequestID(r.Context(), "gateway-1")))
	wantHeader(t, w, "X-Request-Id", "gateway-1")
}

func TestHeadReturnsGetResponseWithoutBody(t *testing.T) {
	t.Parallel()
	w := do(keyed(newEdge(), nil), withKey(newRequest("HEAD", "/things/1", "")))
	wantBody(t, w, 200, "")
	wantHeader(t, w, "Content-Type", "application/json")
	wantBody(t, do(keyed(newEdge(), nil), newRequest("HEAD", "/things/1", "")), 401, "")
}

func TestOptionsOnKeyedRouteSendsNoCORSHeaders(t *testing.T) {
	t.Parallel()
	r := newRequest("OPTIONS", "/things/1", "")
	r.Header.Set("Origin", "https://app.example.org")
	w := do(keyed(newEdge(), nil), r)
	wantBody(t, w, 204, "")
	wantHeader(t, w, "Allow", "GET, HEAD, POST, OPTIONS")
	wantHeader(t, w, "Access-Control-Allow-Origin", "")
	wantHeader(t, w, "Access-Control-Allow-Methods", "")
}

func TestUnsupportedMethodReturnsAllowHeader(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"PUT", "DELETE", "TRACE", "BREW"} {
		w := do(keyed(newEdge(), nil), newRequest(method, "/things/1", ""))
		wantBody(t, w, 405, errorBody("svc_method_not_allowed",
			"This method is not allowed for this URL. Allowed methods: GET, HEAD, POST, OPTIONS."))
		wantHeader(t, w, "Allow", "GET, HEAD, POST, OPTIONS")
	}
}

func TestPanicIsLoggedAndReturnsInternalError(t *testing.T) {
	t.Parallel()
	none := []int{}
	beyond := len(none)
	cases := map[string]struct {
		panics func()
		want   string
	}{
		"runtime error": {func() { _ = none[beyond] }, "runtime error: index out of range [0] with length 0"},
		"own value":     {func() { panic("SENTINEL from the body") }, "a value of the handler's own"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newEdge()
			f := func(context.Context, org.Caller, nothing) (echo, error) { c.panics(); return echo{}, nil }
			endpoint := httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}}, f)
			w := do(api.Serve("/boom", httpapi.Methods{"GET": endpoint}), withKey(newRequest("GET", "/boom", "")))
			wantBody(t, w, 500, errorBody("svc_server_error", generic))
			var line map[string]any
			if err := json.Unmarshal(api.log.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if line["panic"] != c.want || line["level"] != "ERROR" || strings.Contains(api.log.String(), "SENTINEL") {
				t.Errorf("log line: %s", api.log)
			}
			if stack, _ := line["stack"].(string); !strings.Contains(stack, "httpapi_test.go") {
				t.Errorf("the stack does not show the handler: %q", stack)
			}
		})
	}
}

func TestUnencodableDataReturnsInternalError(t *testing.T) {
	t.Parallel()
	f := func(context.Context, org.Caller, nothing) (func(), error) { return func() {}, nil }
	handler := newEdge().Serve("/x", httpapi.Methods{"GET": httpapi.Keyed(httpapi.KeyAuth{Keys: directory{}}, f)})
	wantBody(t, do(handler, withKey(newRequest("GET", "/x", ""))), 500, errorBody("svc_server_error", generic))
}

func TestRedirectResultReturns302(t *testing.T) {
	t.Parallel()
	f := func(_ context.Context, key httpapi.OptionalKey, in struct {
		Token string `query:"token"`
	},
	) (httpapi.RedirectResult, error) {
		switch {
		case in.Token == "" && key.Refused != nil:
			return httpapi.RedirectResult{}, key.Refused
		case key.Caller == nil:
			return httpapi.RedirectResult{Location: "https://files.example.org/by-token"}, nil
		}
		return httpapi.RedirectResult{Location: "https://files.example.org/by-key"}, nil
	}
	handler := newEdge().Serve("/file", httpapi.Methods{"GET": httpapi.KeyOptional(httpapi.KeyAuth{Keys: directory{}}, f)})
	w := do(handler, newRequest("GET", "/file?token=x", ""))
	wantBody(t, w, 302, "")
	wantHeader(t, w, "Location", "https://files.example.org/by-token")
	wantHeader(t, w, "Referrer-Policy", "no-referrer")
	wantHeader(t, do(handler, withKey(newRequest("GET", "/file", ""))), "Location", "https://files.example.org/by-key")
	for path, status := range map[string]int{"/file?token=x": 302, "/file": 401} {
		for _, header := range []string{basic(publicID + ":private_test_wrong"), "Bearer " + goodKey, "Basic !!!!", ""} {
			wrong := newRequest("GET", path, "")
			wrong.Header.Set("Authorization", header)
			if w := do(handler, wrong); w.Code != status {
				t.Errorf("%s with Authorization %q: %d, want %d", path, header, w.Code, status)
			}
		}
	}
}

func TestServeLogsOneLinePerRequest(t *testing.T) {
	t.Parallel()
	api := newEdge()
	do(keyed(api, nil), withKey(newRequest("GET", "/things/SENTINEL?external_id=SENTINEL", "")))
	var got map[string]any
	if err := json.Unmarshal(api.log.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "time")
	want := map[string]any{
		"level": "INFO", "msg": "http.request", "org_id": "org-1", "mode": "test", "method": http.MethodGet,
		"route": "/things/{id}", "status": 200.0, "ms": 0.0, "request_id": requestID,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}
