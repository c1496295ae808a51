package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/template"
)

var update = flag.Bool("update", false, "write the golden files again")

func eventOf(t *testing.T, b bench, r *http.Request) events.APIGatewayProxyRequest {
	t.Helper()
	var e events.APIGatewayProxyRequest
	w := b.ask(r)
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatalf("no event but %d %s: %v", w.Code, w.Body, err)
	}
	return e
}

func TestGatewayConvertsRequestToProxyEvent(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:4566/v1/bridge/org_connection/c%201?b=2&a=1&b=3&empty=",
		strings.NewReader(`{"a":"ä"}`))
	r.RemoteAddr = "192.0.2.7:50123"
	r.Header.Set("Authorization", "Basic eDp5")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "a client")
	r.Header.Add("X-Twice", "first")
	r.Header.Add("X-Twice", "second")
	w := serve(t, invoker(echo)).ask(r)
	var got bytes.Buffer
	if err := json.Indent(&got, w.Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const golden = "testdata/event.json"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestBinaryBodiesArePassedUnchanged(t *testing.T) {
	t.Parallel()
	body := []byte{0, 0xff, 0xfe, '"', '\n', 0xc3}
	mirror := func(_ context.Context, _ string, payload []byte) ([]byte, error) {
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		return json.Marshal(events.APIGatewayProxyResponse{
			StatusCode: 201, Body: e.Body, IsBase64Encoded: e.IsBase64Encoded,
			Headers: map[string]string{"content-type": e.Headers["Content-Type"]},
		})
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/bridge/fhir/ehi-export", bytes.NewReader(body))
	r.Header.Set("Content-Type", "image/png")
	w := serve(t, invoker(mirror)).ask(r)
	if w.Code != http.StatusCreated || !bytes.Equal(w.Body.Bytes(), body) ||
		w.Header().Get("Content-Type") != "image/png" {
		t.Errorf("got %d %q of type %q, want 201 and the same bytes", w.Code, w.Body, w.Header().Get("Content-Type"))
	}
}

func TestEventEncodesBinaryMediaTypesAsBase64(t *testing.T) {
	t.Parallel()
	functions := []template.Function{{LogicalID: "F", Routes: []template.Route{{Method: "POST", Path: "/a"}}}}
	b := serveAPI(template.API{Stage: "v1", BinaryMediaTypes: []string{"image/png"}}, functions, invoker(echo))
	for mediaType, want := range map[string]string{"image/PNG; q=1": "eA==", "text/plain": "x", "": "x"} {
		r := httptest.NewRequest(http.MethodPost, "/v1/a", strings.NewReader("x"))
		r.Header.Set("Content-Type", mediaType)
		e := eventOf(t, b, r)
		if e.Body != want || e.IsBase64Encoded != (want != "x") {
			t.Errorf("%q: got body %q, base64 %v, want %q", mediaType, e.Body, e.IsBase64Encoded, want)
		}
	}
}

func TestConnectionHeadersAreNotPassedToFunction(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/v1/bridge/fhir/ehi-export", http.NoBody)
	for _, name := range []string{"Connection", "Content-Length", "Te", "Upgrade", "Expect", "Transfer-Encoding", "Via"} {
		r.Header.Set(name, "x")
	}
	r.Header.Set("Accept", "kept")
	e := eventOf(t, serve(t, invoker(echo)), r)
	want := map[string]string{
		"Accept": "kept", "Host": "example.com", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Port": "80",
		"X-Forwarded-Proto": "http",
	}
	if diff := cmp.Diff(want, e.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestClientCannotForgeSourceIP(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/v1/bridge/org", http.NoBody)
	r.RemoteAddr = "[2001:db8::1]:9"
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	r.Header.Set("X-Forwarded-Proto", "gopher")
	e := eventOf(t, serve(t, invoker(echo)), r)
	if got, want := e.RequestContext.Identity.SourceIP, "2001:db8::1"; got != want {
		t.Errorf("the source is %q, want %q", got, want)
	}
	if got, want := e.Headers["X-Forwarded-For"], "203.0.113.9, 2001:db8::1"; got != want {
		t.Errorf("X-Forwarded-For is %q, want %q", got, want)
	}
	if got, want := e.Headers["X-Forwarded-Proto"], "http"; got != want {
		t.Errorf("X-Forwarded-Proto is %q, want %q", got, want)
	}
}

func TestGatewayPreservesDotSegmentsInPath(t *testing.T) {
	t.Parallel()
	b := serve(t, invoker(echo))
	for _, target := range []string{
		"/v1/../_local", "/v1/bridge/../../_local", "/_local", "//v1/bridge/org",
		"/v1/bridge%2Forg", "/v1%2Fbridge/org",
	} {
		if got := b.get(target); got.Code != http.StatusNotFound || got.Header().Get("Function") != "" {
			t.Errorf("%s: got %d from %q, want 404 from nobody", target, got.Code, got.Header().Get("Function"))
		}
	}
	e := eventOf(t, b, httptest.NewRequest(http.MethodGet, "/v1/sandbox/a/../%2e%2e/%2Fetc/passwd", http.NoBody))
	if got, want := e.PathParameters["proxy"], "a/../..//etc/passwd"; got != want {
		t.Errorf("proxy is %q, want %q", got, want)
	}
	if got, want := e.Path, "/sandbox/a/../%2e%2e/%2Fetc/passwd"; got != want {
		t.Errorf("the path is %q, want %q", got, want)
	}
}
