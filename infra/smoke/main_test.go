package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/local/runfile"
)

// testID is a well-formed public ID of a nonexistent credential.
const testID = "public_test_2615ba2b-db36-4f2d-b7bb-e5c2e0997b5a"

type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func credential(publicID string) environment {
	return environment{
		"SMOKE_PUBLIC_ID": publicID, "SMOKE_PRIVATE_KEY": "secret-of-the-test",
		"SMOKE_REDIRECT_URI": "https://app.example/return",
	}
}

func TestSmokeUsageErrorExitsWith2(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(file, baseURL, endpoint string) {
		if err := runfile.Write(file, runfile.Run{BaseURL: baseURL, AWS: runfile.AWS{EndpointURL: endpoint}}); err != nil {
			t.Fatal(err)
		}
	}
	listening := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(listening.Close)
	for name, test := range map[string]struct {
		local string // base URL in the local run file; "" for no file
		args  []string
		env   environment
		want  string
	}{
		"nothing is named": {want: "there is no local run here (.local/run.json, which make run writes): name " +
			"the stack"},
		"an address alone": {
			args: []string{"-base-url", "https://api.example/v1"},
			want: "or set a test mode credential",
		},
		"another stack runs here": {
			local: "http://127.0.0.1:1/v1", args: []string{"-base-url", "https://api.example/v1"},
			want: "the local run is at http://127.0.0.1:1/v1, not at https://api.example/v1",
		},
		"half a credential": {
			env:  environment{"SMOKE_PUBLIC_ID": testID},
			want: "SMOKE_PUBLIC_ID needs SMOKE_PRIVATE_KEY and SMOKE_REDIRECT_URI",
		},
		"a live credential": {
			args: []string{"-base-url", "https://api.example/v1"},
			env:  credential("public_live_2615ba2b-db36-4f2d-b7bb-e5c2e0997b5a"), want: "not for test mode",
		},
		"what is no address": {
			args: []string{"-base-url", "api.example/v1"}, env: credential(testID),
			want: "is not a URL like https://",
		},
		"a file that is not there": {args: []string{"-outputs", "none.json"}, want: "-outputs: open none.json"},
		"an unknown flag":          {args: []string{"-key", "x"}, want: "-key"},
		"a stack that has gone since": {
			args: []string{"-outputs", "gone.json"},
			want: "no longer responds at http://127.0.0.1:1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			write("gone.json", "http://127.0.0.1:1/v1", "http://127.0.0.1:1")
			_ = os.RemoveAll(".local")
			if test.local != "" {
				write(filepath.Join(".local", "run.json"), test.local, listening.URL)
			}
			var out bytes.Buffer
			err := run(t.Context(), test.args, test.env.get, &out)
			if exitCode(err) != 2 || !strings.Contains(fmt.Sprint(err), test.want) || strings.Contains(out.String(), "ok ") {
				t.Errorf("%v (%d), want %q; printed %s", err, exitCode(err), test.want, out.String())
			}
		})
	}
}

func TestSmokeFailsOnUnreachableStack(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), []string{"-base-url", "http://127.0.0.1:1/v1/"}, credential(testID).get, &out)
	if exitCode(err) != 1 || !strings.Contains(out.String(), "smoke: http://127.0.0.1:1/v1 (by its URL only)\n") ||
		!strings.Contains(out.String(), "API: Get \"http://127.0.0.1:1/v1/bridge/org?…\"") {
		t.Errorf("%v, printed %s", err, out.String())
	}
}

// TestSmokeRedactsKeyEchoedByServer covers a server that echoes the key in its response headers and body.
func TestSmokeRedactsKeyEchoedByServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, key, _ := r.BasicAuth()
		w.Header().Set("X-Request-Id", "id "+key)
		w.Header().Set("Content-Type", "text/"+key)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "secret of the patient, "+key)
	}))
	t.Cleanup(server.Close)
	var out bytes.Buffer
	err := run(context.WithoutCancel(t.Context()), []string{"-base-url", server.URL + "/v1"}, credential(testID).get, &out)
	if exitCode(err) != 1 || !strings.Contains(out.String(), "FAILED") || strings.Contains(out.String(), "secret") ||
		strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v, printed %s", err, out.String())
	}
}

func TestSmokeHelpExitsWithZero(t *testing.T) {
	t.Parallel()
	if got := exitCode(run(t.Context(), []string{"-h"}, environment{}.get, io.Discard)); got != 0 {
		t.Errorf("got %d", got)
	}
}
