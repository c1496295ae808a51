package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/local/runfile"
)

// stackOf starts a stack with a single organisation, writes its run file, and returns the file's path and the stack's
// URL.
func stackOf(t *testing.T, name string) (file, url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("public_id") != "public_test_known" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	file = filepath.Join(t.TempDir(), "run.json")
	if err := runfile.Write(file, runfile.Run{
		Stack: name, BaseURL: server.URL, Organisations: []runfile.Organisation{{PublicID: "public_test_known"}},
	}); err != nil {
		t.Fatal(err)
	}
	return file, server.URL
}

// TestDemoPrintsStackName checks that the demo prints the stack's name before failing because the stack has no sandbox.
func TestDemoPrintsStackName(t *testing.T) {
	t.Parallel()
	file, url := stackOf(t, "sam local")
	for _, want := range []string{"", "sam local"} {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-run-file", file, "-stack", want}, &out)
		if err == nil || !strings.Contains(err.Error(), "without its seed") {
			t.Errorf("got %v, want it to miss the sandbox", err)
		}
		if got := out.String(); got != "The stack is \"sam local\" at "+url+"\n" {
			t.Errorf("said %q", got)
		}
	}
}

// TestDemoFailsWhenStackNameDiffers also checks that the demo doesn't start a stack, because the test provides no
// runner.
func TestDemoFailsWhenStackNameDiffers(t *testing.T) {
	t.Parallel()
	embedded, url := stackOf(t, "embedded")
	replaced := filepath.Join(t.TempDir(), "replaced.json") // a different stack now responds at this URL
	if err := runfile.Write(replaced, runfile.Run{
		BaseURL:       url,
		Organisations: []runfile.Organisation{{PublicID: "public_test_unknown"}},
	}); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone.json")
	if err := runfile.Write(gone, runfile.Run{
		BaseURL:       "http://127.0.0.1:1/v1",
		Organisations: []runfile.Organisation{{PublicID: "public_test_known"}},
	}); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing.json")
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"not a run file": {[]string{"-run-file", missing}, missing},
		"a folder":       {[]string{"-run-file", t.TempDir()}, "read run file"},
		"another file":   {[]string{"-run-file", "main_test.go"}, "main_test.go is not a run file"},
		"a stack that has gone": {
			[]string{"-run-file", gone},
			"the stack of " + gone + " does not respond at http://127.0.0.1:1/v1",
		},
		"one that was replaced": {[]string{"-run-file", replaced}, "the stack of " + replaced + " does not respond"},
		"one of another kind":   {[]string{"-run-file", embedded, "-stack", "sam local"}, `is "embedded", not "sam local"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := run(t.Context(), append(test.arguments, "-runner", "no-such-runner"), &out)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "no-such-runner") {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if out.Len() > 0 {
				t.Errorf("said %q", &out)
			}
		})
	}
}

func TestDemoStartsLocalRunnerWhenRequested(t *testing.T) {
	t.Parallel()
	file, _ := stackOf(t, "embedded")
	var out bytes.Buffer
	err := run(t.Context(), []string{"-own", "-run-file", file, "-runner", "no-such-runner"}, &out)
	if err == nil || !strings.Contains(err.Error(), "start no-such-runner") {
		t.Errorf("got %v, want it to start the runner", err)
	}
}
