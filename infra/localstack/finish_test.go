package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asStrict returns a server that, like LocalStack, rejects a GET request with a body and any body whose content type is
// not application/json.
func asStrict(next http.Handler) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && (r.Method == http.MethodGet || r.Header.Get("Content-Type") != "application/json") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// TestRestoreStageCreatesMissingStageFromNewestDeployment covers a stage that was removed with the old deployment, and
// an existing stage that must not change.
func TestRestoreStageCreatesMissingStageFromNewestDeployment(t *testing.T) {
	t.Parallel()
	for stages, want := range map[string]string{
		`{}`:                            `{"deploymentId":"d2","stageName":"v1"}`,
		`{"item":[{"stageName":"v1"}]}`: "",
	} {
		var made string
		mux := http.NewServeMux()
		for path, answer := range map[string]string{
			"": `{"item":[{"id":"a1"}]}`, "/a1/stages": stages,
			"/a1/deployments": `{"item":[{"id":"d2"}]}`,
		} {
			mux.HandleFunc("GET /restapis"+path, func(w http.ResponseWriter, _ *http.Request) {
				_,
					_ = io.WriteString(w, answer)
			})
		}
		mux.HandleFunc("POST /restapis/a1/stages", func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			made = string(body)
			w.WriteHeader(http.StatusCreated)
		})
		gateway := asStrict(mux)
		if err := restoreStage(t.Context(), options{aws: strings.TrimPrefix(gateway.URL, "http://")}); err != nil ||
			made != want {
			t.Errorf("with the stages %s: made %q, %v, want %q", stages, made, err, want)
		}
		gateway.Close()
	}
}

// TestMoveAliasesSelectsNewestVersion covers versions whose numeric and alphabetical orders differ and a list that
// spans several pages.
func TestMoveAliasesSelectsNewestVersion(t *testing.T) {
	t.Parallel()
	moved := map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2015-03-31/functions/{$}", func(w http.ResponseWriter, r *http.Request) {
		page := `{"Functions":[{"FunctionName":"a"}],"NextMarker":"m/1"}`
		if r.URL.Query().Get("Marker") == "m/1" {
			page = `{"Functions":[{"FunctionName":"b"}]}`
		}
		_, _ = io.WriteString(w, page)
	})
	mux.HandleFunc("GET /2015-03-31/functions/{name}/versions", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Versions":[{"Version":"$LATEST"},{"Version":"10"},{"Version":"9"}]}`)
	})
	mux.HandleFunc("PUT /2015-03-31/functions/{name}/aliases/live", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		moved[r.PathValue("name")] = string(body)
		_, _ = io.WriteString(w, `{}`)
	})
	lambda := asStrict(mux)
	defer lambda.Close()
	if err := moveAliases(t.Context(), options{aws: strings.TrimPrefix(lambda.URL, "http://")}); err != nil {
		t.Fatal(err)
	}
	if want := `{"FunctionVersion":"10"}`; len(moved) != 2 || moved["a"] != want || moved["b"] != want {
		t.Errorf("moved %v, want both to %s", moved, want)
	}
}

func TestMoveAliasesErrorNamesUnpublishedFunction(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"Functions":[]}`: "there are no functions",
		`{"Functions":[{"FunctionName":"a"}],"Versions":[{"Version":"$LATEST"}]}`: "alias of a: it has no version",
		`{`: "read LocalStack's response",
	} {
		lambda := httptest.NewServer(http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		if err := moveAliases(t.Context(), options{aws: strings.TrimPrefix(lambda.URL, "http://")}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", answer, err, want)
		}
		lambda.Close()
	}
}
