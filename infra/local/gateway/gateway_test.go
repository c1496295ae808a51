package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/template"
)

// invoker is a fake Invoker for all Lambda functions.
type invoker func(ctx context.Context, function string, payload []byte) ([]byte, error)

func (i invoker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	return i(ctx, function, payload)
}

func answering(response events.APIGatewayProxyResponse) invoker {
	return func(context.Context, string, []byte) ([]byte, error) { return json.Marshal(response) }
}

func echo(_ context.Context, function string, payload []byte) ([]byte, error) {
	return json.Marshal(events.APIGatewayProxyResponse{
		StatusCode: 200, Headers: map[string]string{"Function": function},
		Body: string(payload),
	})
}

type bench struct {
	http.Handler

	log *bytes.Buffer
}

// serve returns a gateway for the project's template, with request IDs id-1, id-2 and so on.
func serve(t *testing.T, i gateway.Invoker) bench {
	t.Helper()
	tpl, err := template.Load("../../../template.yaml", template.Options{
		Parameters: map[string]string{"EnableSandbox": "true"}, BaseURL: "http://127.0.0.1:4566", StackName: "rb",
	})
	if err != nil {
		t.Fatal(err)
	}
	return serveAPI(tpl.API, tpl.Functions, i)
}

func serveAPI(api template.API, functions []template.Function, i gateway.Invoker) bench {
	log, ids := new(bytes.Buffer), 0
	handler := gateway.New(gateway.Options{
		API: api, Functions: functions, Invoker: i,
		Now:       func() time.Time { return time.Date(2026, 11, 21, 4, 5, 6, 789e6, time.UTC) },
		RequestID: func() string { ids++; return "id-" + strconv.Itoa(ids) },
		Log:       slog.New(slog.NewJSONHandler(log, nil)),
	})
	return bench{handler, log}
}

func (b bench) ask(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// get requests a path exactly as written in target.
func (b bench) get(target string) *httptest.ResponseRecorder {
	return b.ask(httptest.NewRequest(http.MethodGet, target, http.NoBody))
}

// wantEnvelope checks that the gateway itself sent the response, in Recordbridge's error envelope.
func wantEnvelope(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var got struct {
		Success   bool   `json:"success"`
		Error     string `json:"error"`
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("the body %q is not JSON: %v", w.Body, err)
	}
	if w.Code != status || got.Error != code || got.Success || got.RequestID != "id-1" {
		t.Errorf("got %d %+v, want %d %s with id-1", w.Code, got, status, code)
	}
	for name, want := range map[string]string{
		"X-Request-Id": "id-1", "X-Amzn-Requestid": "id-1", "X-Amz-Apigw-Id": "id-2", "Content-Type": "application/json",
		"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestLiteralPathSegmentsTakePrecedence(t *testing.T) {
	t.Parallel()
	functions := []template.Function{
		{LogicalID: "Literal", Routes: []template.Route{{Method: "GET", Path: "/a/b"}, {Method: "ANY", Path: "/a/b"}}},
		{LogicalID: "Poster", Routes: []template.Route{{Method: "POST", Path: "/a/b"}}},
		{LogicalID: "Variable", Routes: []template.Route{
			{Method: "ANY", Path: "/a/{id}"},
			{Method: "ANY", Path: "/a/{id}/d"},
		}},
		{LogicalID: "Greedy", Routes: []template.Route{
			{Method: "ANY", Path: "/a/{rest+}"},
			{Method: "GET", Path: "/s/{rest+}"},
		}},
	}
	for name, c := range map[string]struct{ method, target, function, parameters string }{
		"a literal":                        {"GET", "/v1/a/b", "Literal", "null"},
		"a literal with slashes at end":    {"GET", "/v1/a/b//", "Literal", "null"},
		"its own method before any":        {"POST", "/v1/a/b", "Poster", "null"},
		"any other method":                 {"OPTIONS", "/v1/a/b", "Literal", "null"},
		"a method of one's own":            {"PROPFIND", "/v1/a/b", "Literal", "null"},
		"a variable":                       {"GET", "/v1/a/c", "Variable", `{"id":"c"}`},
		"a variable after a dead literal":  {"GET", "/v1/a/b/d", "Variable", `{"id":"b"}`},
		"a greedy part":                    {"GET", "/v1/a/b/e", "Greedy", `{"rest":"b/e"}`},
		"a greedy part with empty parts":   {"GET", "/v1/s/x//y/", "Greedy", `{"rest":"x//y"}`},
		"a variable with an encoded slash": {"GET", "/v1/a/c%2Fd", "Variable", `{"id":"c/d"}`},
		"a variable that looks like up":    {"GET", "/v1/a/..", "Variable", `{"id":".."}`},
		"a variable with encoded text":     {"GET", "/v1/a/%C3%A4%20b", "Variable", `{"id":"ä b"}`},
		"a greedy part without text":       {"GET", "/v1/s/", "", ""},
		"an empty variable":                {"GET", "/v1/a//d", "", ""},
		"a slash too many":                 {"GET", "/v1//a/b", "", ""},
		"a method that is not declared":    {"POST", "/v1/s/x", "", ""},
		"a resource without methods":       {"GET", "/v1/a", "", ""},
		"the root":                         {"GET", "/v1/", "", ""},
		"the stage alone":                  {"GET", "/v1", "", ""},
		"another stage":                    {"GET", "/v2/a/b", "", ""},
		"a longer stage":                   {"GET", "/v1x/a/b", "", ""},
		"an encoded literal":               {"GET", "/v1/%61/b", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serveAPI(template.API{Stage: "v1"}, functions, invoker(echo))
			w := b.ask(httptest.NewRequest(c.method, c.target, http.NoBody))
			if got := w.Header().Get("Function"); got != c.function {
				t.Fatalf("got the function %q, want %q", got, c.function)
			}
			if c.function == "" {
				if w.Code != http.StatusForbidden {
					t.Errorf("got status %d, want 403", w.Code)
				}
				return
			}
			var event struct {
				PathParameters json.RawMessage `json:"pathParameters"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &event); err != nil {
				t.Fatal(err)
			}
			if got := string(event.PathParameters); got != c.parameters {
				t.Errorf("got the parameters %s, want %s", got, c.parameters)
			}
		})
	}
}

func TestGatewayRoutesTemplatePathsToFunctions(t *testing.T) {
	t.Parallel()
	b := serve(t, invoker(echo))
	for request, want := range map[string]string{
		"GET /v1/bridge/connect?x=1":                          "ConnectFunction",
		"HEAD /v1/bridge/connect":                             "ConnectFunction",
		"OPTIONS /v1/bridge/org":                              "GetOrgFunction",
		"POST /v1/bridge/fhir/ehi-export":                     "CreateExportFunction",
		"DELETE /v1/bridge/fhir/ehi-export":                   "CreateExportFunction",
		"GET /v1/bridge/fhir/ehi-export/t1":                   "GetExportFunction",
		"GET /v1/bridge/fhir/ehi-export/t1/download/f.ndjson": "DownloadExportFunction",
		"GET /v1/bridge/org_connection/c1":                    "GetConnectionFunction",
		"POST /v1/sandbox/fhir/r4/Patient/_search":            "SandboxEhrFunction",
	} {
		method, target, _ := strings.Cut(request, " ")
		w := b.ask(httptest.NewRequest(method, target, http.NoBody))
		if got := w.Header().Get("Function"); got != want {
			t.Errorf("%s reaches %q, want %q", request, got, want)
		}
	}
}
