package lambdarun_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/logx"
)

func proxyEvent(t *testing.T) events.APIGatewayProxyRequest {
	t.Helper()
	document, err := os.ReadFile("testdata/proxy_event.json")
	if err != nil {
		t.Fatal(err)
	}
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(document, &event); err != nil {
		t.Fatal(err)
	}
	return event
}

func silent() *bytes.Buffer { return &bytes.Buffer{} }

func TestHTTPConvertsEventToRequest(t *testing.T) {
	t.Parallel()
	type seen struct {
		Method, Path, Host, Remote, Pattern, Proxy, ID, Body, RequestURI, RequestID string
		Query, Header                                                               map[string][]string
		Length                                                                      int64
	}
	var got seen
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{
			r.Method, r.URL.Path, r.Host, r.RemoteAddr, r.Pattern, r.PathValue("proxy"), r.PathValue("id"), string(body),
			r.RequestURI, logx.RequestID(r.Context()), r.URL.Query(), r.Header, r.ContentLength,
		}
	})
	if _, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), proxyEvent(t)); err != nil {
		t.Fatal(err)
	}
	want := seen{
		Method: "POST", Path: "/v1/sandbox/s 1/fhir/Patient", Host: "api.example.org", Remote: "[2001:db8::7]:0",
		Pattern: "/sandbox/{id}/{proxy...}", Proxy: "fhir/Patient", ID: "s 1", Body: "binary\x00body", RequestID: "req-0001",
		RequestURI: "/v1/sandbox/s%201/fhir/Patient?_id=a&_id=b&name=A+B%26C",
		Query:      map[string][]string{"_id": {"a", "b"}, "name": {"A B&C"}},
		Header: map[string][]string{
			"Host": {"api.example.org"}, "Content-Type": {"text/plain"}, "Accept": {"a/b", "c/d"},
			"X-Forwarded-For": {"203.0.113.9"},
		},
		Length: 11,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestHTTPAcceptsEventWithSingleValueFields(t *testing.T) {
	t.Parallel()
	event := events.APIGatewayProxyRequest{
		HTTPMethod: "GET", Path: "/plain", Headers: map[string]string{"accept": "a/b"},
		QueryStringParameters: map[string]string{"q": "1"}, Body: "text",
		RequestContext: events.APIGatewayProxyRequestContext{DomainName: "d.example.org"},
	}
	var got string
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.Join([]string{r.URL.String(), r.Header.Get("Accept"), r.Host, string(body)}, " ")
	})
	if _, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if want := "/plain?q=1 a/b d.example.org text"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHTTPUsesPathInsteadOfResourcePattern covers an emulator that replaces the path with the resource pattern, and a
// client whose path contains a brace.
func TestHTTPUsesPathInsteadOfResourcePattern(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ inContext, path, want string }{
		"the client's path":                   {"/v1/sandbox/s/fhir", "/mapped/s/fhir", "/v1/sandbox/s/fhir"},
		"no path":                             {"", "/sandbox/s/fhir", "/sandbox/s/fhir"},
		"the pattern":                         {"/sandbox/{id}/{proxy+}", "/sandbox/s/fhir", "/sandbox/s/fhir"},
		"the pattern behind the stage":        {"/v1/sandbox/{id}/{proxy+}", "/v1/sandbox/s/fhir", "/v1/sandbox/s/fhir"},
		"a path that the client wrote with {": {"/v1/sandbox/{s}/fhir", "/sandbox/{s}/fhir", "/v1/sandbox/{s}/fhir"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := proxyEvent(t)
			event.RequestContext.Path, event.Path = c.inContext, c.path
			var got string
			handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.Path })
			if _, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestHTTPEncodesBinaryBodyAsBase64 checks that UTF-8 text arrives unchanged even if the gateway doesn't decode base64.
func TestHTTPEncodesBinaryBodyAsBase64(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"JSON":                        {`{"name":"Zoë <&>"}`, `{"name":"Zoë <&>"}`},
		"text that looks like base64": {"aGVsbG8=", "aGVsbG8="},
		"U+FFFD, as text":             {"\uFFFD", "\uFFFD"},
		"a null byte":                 {"a\x00b", "a\x00b"},
		"nothing":                     {"", ""},
		"bytes":                       {"\xff\xfe\x00", "//4A"},
		"a rune cut in two":           {"caf\xc3", "Y2Fmww=="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			got, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), proxyEvent(t))
			if err != nil {
				t.Fatal(err)
			}
			if got.Body != c.want || got.IsBase64Encoded != (c.body != c.want) {
				t.Errorf("got %q, base64: %v; want %q", got.Body, got.IsBase64Encoded, c.want)
			}
		})
	}
}

func TestHTTPConvertsResponseToEvent(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.Header().Set("X-Smuggled", "a\r\nLocation: evil")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		w.Header().Set("X-Late", "too late")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "<html>\xff")
	})
	got, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), proxyEvent(t))
	if err != nil {
		t.Fatal(err)
	}
	want := events.APIGatewayProxyResponse{
		StatusCode: 201, IsBase64Encoded: true, Body: base64.StdEncoding.EncodeToString([]byte("<html>\xff")),
		MultiValueHeaders: map[string][]string{
			"Set-Cookie": {"a=1", "b=2"}, "X-Smuggled": {"a  Location: evil"}, "Content-Type": {"text/html; charset=utf-8"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestHTTPOmitsBodyWhenStatusForbidsIt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		method string
		status int
	}{
		"HEAD":         {"HEAD", 200},
		"no content":   {"GET", 204},
		"not modified": {"GET", 304},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "unwanted")
			})
			event := proxyEvent(t)
			event.HTTPMethod = c.method
			got, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), event)
			if err != nil || got.Body != "" || got.StatusCode != c.status {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestHTTPReturns200WhenHandlerWritesNoResponse(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	got, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), proxyEvent(t))
	if err != nil || got.StatusCode != http.StatusOK {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHTTPLogsPanicAndFailsInvocation(t *testing.T) {
	t.Parallel()
	log := silent()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half an answer")
		panic("SENTINEL")
	})
	got, err := lambdarun.HTTP(logx.New(log), handler)(t.Context(), proxyEvent(t))
	if err == nil || got.StatusCode != 0 || got.Body != "" || strings.Contains(err.Error(), "SENTINEL") {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, want := range []string{`"msg":"http.failed"`, `"request_id":"req-0001"`, `"level":"ERROR"`, "http_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
}

func TestHTTPFailsInvocationOnInvalidBase64(t *testing.T) {
	t.Parallel()
	event := proxyEvent(t)
	event.Body = "%%%"
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })
	if _, err := lambdarun.HTTP(logx.New(silent()), handler)(t.Context(), event); err == nil {
		t.Error("no error")
	}
}

func FuzzProxyEvent(f *testing.F) {
	document, err := os.ReadFile("testdata/proxy_event.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Add([]byte(`{"requestContext":{"path":"%zz\u0000"},"pathParameters":{"":""},"httpMethod":"\n"}`))
	serve := lambdarun.HTTP(logx.New(io.Discard), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Path", r.URL.Path)
	}))
	f.Fuzz(func(t *testing.T, document []byte) {
		var event events.APIGatewayProxyRequest
		if json.Unmarshal(document, &event) != nil {
			return
		}
		answer, err := serve(t.Context(), event)
		if err == nil && strings.ContainsAny(strings.Join(answer.MultiValueHeaders["X-Path"], ""), "\r\n") {
			t.Errorf("line break in a header of %+v", answer)
		}
	})
}
