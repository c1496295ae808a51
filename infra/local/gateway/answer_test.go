package gateway_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/template"
)

func TestResponseHeadersMatchThoseOfAPIGateway(t *testing.T) {
	t.Parallel()
	w := serve(t, answering(events.APIGatewayProxyResponse{
		StatusCode: 401,
		Headers: map[string]string{
			"www-authenticate": "Basic", "x-one": "single", "x-both": "loses", "Server": "s",
			"transfer-encoding": "chunked",
		},
		MultiValueHeaders: map[string][]string{
			"Set-Cookie": {"a=1; Path=/", "b=2"}, "X-Both": {"wins"}, "X-Amzn-RequestId": {"forged"}, "Content-Length": {"999"},
		},
		Body: "text",
	})).get("/v1/bridge/org")
	want := http.Header{
		"Content-Type":                     {"application/json"},
		"Set-Cookie":                       {"a=1; Path=/", "b=2"},
		"X-Amz-Apigw-Id":                   {"id-2"},
		"X-Amzn-Remapped-Content-Length":   {"999"},
		"X-Amzn-Remapped-Server":           {"s"},
		"X-Amzn-Remapped-Www-Authenticate": {"Basic"},
		"X-Amzn-Requestid":                 {"id-1"},
		"X-Both":                           {"wins"},
		"X-One":                            {"single"},
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if w.Code != http.StatusUnauthorized || w.Body.String() != "text" {
		t.Errorf("got %d %q, want 401 and text", w.Code, w.Body)
	}
}

// API Gateway decodes a function's base64 body only if the response is marked as base64 and the API has binary media
// types. Other bodies are passed unchanged, even if the binary media types include */*.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/lambda-proxy-binary-media.html
func TestGatewayDecodesResponseMarkedAsBase64(t *testing.T) {
	t.Parallel()
	functions := []template.Function{{LogicalID: "F", Routes: []template.Route{{Method: "GET", Path: "/a"}}}}
	for name, c := range map[string]struct {
		types   []string
		encoded bool
		want    string
	}{
		"text of an API that takes everything for binary":   {[]string{"*/*"}, false, "aGk="},
		"base64 of an API that takes everything for binary": {[]string{"*/*"}, true, "hi"},
		"base64 of an API that takes nothing for binary":    {nil, true, "aGk="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serveAPI(template.API{Stage: "v1", BinaryMediaTypes: c.types}, functions,
				answering(events.APIGatewayProxyResponse{StatusCode: 200, Body: "aGk=", IsBase64Encoded: c.encoded}))
			if got := b.get("/v1/a").Body.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGatewayCompressesLargeResponseWhenClientAcceptsGzip(t *testing.T) {
	t.Parallel()
	large, small := strings.Repeat("a", 1024), strings.Repeat("a", 1023)
	for name, test := range map[string]struct {
		accept, body, encoding string
		packed                 bool
	}{
		"gzip":             {"gzip", large, "", true},
		"a browser":        {"br;q=1, GZIP ; q=0.8, *", large, "", true},
		"any coding":       {"*", large, "", false},
		"no header":        {"", large, "", false},
		"gzip refused":     {"gzip;q=0.0, deflate", large, "", false},
		"small response":   {"gzip", small, "", false},
		"encoded response": {"gzip", large, "br", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, answering(events.APIGatewayProxyResponse{
				StatusCode: 200, Body: test.body, Headers: map[string]string{"Content-Encoding": test.encoding},
			}))
			r := httptest.NewRequest(http.MethodGet, "/v1/bridge/org", http.NoBody)
			r.Header.Set("Accept-Encoding", test.accept)
			w := b.ask(r)
			if !test.packed {
				if w.Body.String() != test.body || w.Header().Get("Content-Encoding") != test.encoding {
					t.Errorf("%d bytes with Content-Encoding %q", w.Body.Len(), w.Header().Get("Content-Encoding"))
				}
				return
			}
			unpacked, err := gzip.NewReader(w.Body)
			if err != nil || w.Header().Get("Content-Encoding") != "gzip" {
				t.Fatalf("Content-Encoding %q: %v", w.Header().Get("Content-Encoding"), err)
			}
			if body, err := io.ReadAll(unpacked); err != nil || string(body) != test.body {
				t.Errorf("got %d bytes, %v", len(body), err)
			}
		})
	}
}

func TestResponseStatusDefaultsTo200(t *testing.T) {
	t.Parallel()
	w := serve(t,
		invoker(func(context.Context, string, []byte) ([]byte, error) {
			return []byte(`{"headers":null}`),
				nil
		})).get("/v1/bridge/org")
	if w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("got %d %q, want 200 and nothing", w.Code, w.Body)
	}
}

func TestMalformedFunctionResponseReturnsIntegrationFailure(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]string{
		"nothing": "", "null": "null", "a text": `"secret"`, "a list": `[]`, "not JSON": "{secret",
		"an unknown field":          `{"statusCode":200,"secret":1}`,
		"a status that is none":     `{"statusCode":99}`,
		"a status too high":         `{"statusCode":600}`,
		"an informational one":      `{"statusCode":101}`,
		"a status that is text":     `{"statusCode":"secret"}`,
		"a body that is an object":  `{"statusCode":200,"body":{"secret":1}}`,
		"a body that is not base64": `{"statusCode":200,"body":"!secret","isBase64Encoded":true}`,
		"two answers":               `{"statusCode":200}{"statusCode":200}`,
		"an answer too large":       `{"statusCode":200,"body":"` + strings.Repeat("x", 6<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, invoker(func(context.Context, string, []byte) ([]byte, error) { return []byte(out), nil }))
			wantEnvelope(t, b.get("/v1/bridge/org"), http.StatusBadGateway, "svc_server_error")
			if !strings.Contains(b.log.String(), `"gateway_response":"INTEGRATION_FAILURE"`) ||
				strings.Contains(b.log.String(), "secret") {
				t.Errorf("the log does not say why, or says too much: %s", b.log)
			}
		})
	}
}

func TestFunctionFailureReturnsIntegrationFailureWithoutMessage(t *testing.T) {
	t.Parallel()
	b := serve(t, invoker(func(context.Context, string, []byte) ([]byte, error) {
		return nil, &gateway.FunctionError{Type: "Runtime.ExitError", Message: "secret"}
	}))
	wantEnvelope(t, b.get("/v1/bridge/org"), http.StatusBadGateway, "svc_server_error")
	if log := b.log.String(); !strings.Contains(log, "Runtime.ExitError") || strings.Contains(log, "secret") {
		t.Errorf("the log does not say why, or says too much: %s", log)
	}
}

func TestInvocationErrorReturnsServerError(t *testing.T) {
	t.Parallel()
	b := serve(t, invoker(func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("no binary") }))
	wantEnvelope(t, b.get("/v1/bridge/org"), http.StatusInternalServerError, "svc_server_error")
}

// slow is a function that takes ten minutes, or until its context ends.
func slow(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(10 * time.Minute):
		return []byte(`{"statusCode":200}`), nil
	}
}

func TestClientReceivesTimeoutAfter29Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, start := serve(t, invoker(slow)), time.Now()
		w := b.get("/v1/bridge/org")
		if got, want := time.Since(start), 29*time.Second; got != want {
			t.Errorf("it took %v, want %v", got, want)
		}
		wantEnvelope(t, w, http.StatusGatewayTimeout, "svc_unavailable")
	})
}

func TestInvocationContinuesAfterClientDisconnects(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	var after error
	b := serve(t, invoker(func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		leave()
		after = ctx.Err()
		return []byte(`{}`), nil
	}))
	b.ask(httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/bridge/org", http.NoBody))
	if after != nil {
		t.Errorf("the invocation ended: %v", after)
	}
}

func TestUnknownPathsAndMethodsReturn404(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{
		"a path": "/v1/bridge/nothing", "the root": "/v1/", "outside the stage": "/other",
		"a template in it": "/v1/$context.requestId",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantEnvelope(t, serve(t, invoker(echo)).get(target), http.StatusNotFound, "svc_not_found")
		})
	}
}

func TestOversizedRequestsAreRejectedBeforeInvocation(t *testing.T) {
	t.Parallel()
	untouched := func(t *testing.T) invoker {
		t.Helper()
		return func(context.Context, string, []byte) ([]byte, error) {
			t.Error("the function is invoked")
			return []byte(`{}`), nil
		}
	}
	for name, size := range map[string]int{"API Gateway's 10 MB": 10<<20 + 1, "Lambda's 6 MB as base64": 5 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/v1/bridge/fhir/ehi-export", strings.NewReader(strings.Repeat("x", size)))
			wantEnvelope(t, serve(t, untouched(t)).ask(r), http.StatusRequestEntityTooLarge, "svc_payload_too_large")
		})
	}
	t.Run("huge headers", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequest(http.MethodGet, "/v1/bridge/org", http.NoBody)
		r.Header.Set("Cookie", strings.Repeat("x", 10240))
		wantEnvelope(t, serve(t, untouched(t)).ask(r), http.StatusBadRequest, "svc_invalid_request")
	})
	t.Run("a query that is malformed", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{"public_id=%zz", "a=1&redirect_uri=https%3A%2F%2Fapp.example;redirect_uri=x"} {
			r := httptest.NewRequest(http.MethodGet, "/v1/bridge/org?"+query, http.NoBody)
			wantEnvelope(t, serve(t, untouched(t)).ask(r), http.StatusBadRequest, "svc_invalid_request")
		}
	})
	t.Run("a body that breaks off", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequest(http.MethodPost, "/v1/bridge/fhir/ehi-export", brokenBody{})
		wantEnvelope(t, serve(t, untouched(t)).ask(r), http.StatusBadRequest, "svc_invalid_request")
	})
}

// brokenBody is the request body of a client that disconnects while sending.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestGatewayAcceptsFourMegabyteBody(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/v1/bridge/fhir/ehi-export", strings.NewReader(strings.Repeat("x", 4<<20)))
	if got := serve(t,
		answering(events.APIGatewayProxyResponse{StatusCode: 202})).ask(r).Code; got != http.StatusAccepted {
		t.Errorf("got %d, want 202", got)
	}
}

func TestGatewayResponsesUseDefaultsUnlessConfigured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		responses map[string]template.GatewayResponse
		status    int
		body      string
	}{
		"none declared": {nil, 403, `{"message":"Missing Authentication Token"}`},
		"only the text": {
			map[string]template.GatewayResponse{"DEFAULT_4XX": {Body: "d $context.requestId"}},
			403, "d id-1",
		},
		"only the status": {
			map[string]template.GatewayResponse{"DEFAULT_4XX": {StatusCode: 418}},
			418,
			`{"message":"Missing Authentication Token"}`,
		},
		"another kind": {
			map[string]template.GatewayResponse{"DEFAULT_5XX": {StatusCode: 599}},
			403,
			`{"message":"Missing Authentication Token"}`,
		},
		"its own before others": {map[string]template.GatewayResponse{
			"MISSING_AUTHENTICATION_TOKEN": {},
			"DEFAULT_4XX":                  {StatusCode: 418},
		}, 403, `{"message":"Missing Authentication Token"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serveAPI(template.API{Stage: "v1", GatewayResponses: c.responses}, nil, invoker(echo)).get("/v1/x")
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("got %d %s, want %d %s", w.Code, w.Body, c.status, c.body)
			}
		})
	}
}

func TestResponsesAreDeliveredOverHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(serve(t, answering(events.APIGatewayProxyResponse{
		StatusCode: 302, MultiValueHeaders: map[string][]string{
			"Location": {"https://portal.example/authorize?x=1"},
			"Bad Name": {"x"},
		},
		Body: "aGk=", IsBase64Encoded: true,
	})))
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/v1/bridge/connect", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got := response.Header.Get("Location"); response.StatusCode != http.StatusFound ||
		got != "https://portal.example/authorize?x=1" {
		t.Errorf("got %d to %q, want 302 to the portal", response.StatusCode, got)
	}
}
