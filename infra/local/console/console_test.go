package console_test

import (
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageBlocksForeignScripts(t *testing.T) {
	t.Parallel()
	f := build(t)
	for path, want := range map[string]string{
		"/_local": "text/html; charset=utf-8", "/_local/app.js": "text/javascript; charset=utf-8",
		"/_local/console.css": "text/css; charset=utf-8",
	} {
		got := f.serve(t, "GET", path, nil)
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != want {
			t.Errorf("GET %s: got %d %q, want 200 %q", path, got.Code, got.Header().Get("Content-Type"), want)
		}
		policy := got.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s: got policy %q", path, policy)
		}
	}
	if got := f.serve(t, "GET", "/_local/", nil); got.Code != http.StatusMovedPermanently ||
		got.Header().Get("Location") != "/_local" {
		t.Errorf("GET /_local/: got %d to %q", got.Code, got.Header().Get("Location"))
	}
	if got := f.serve(t, "GET", "/_local/return.html", nil); got.Code != http.StatusNotFound {
		t.Errorf("the template itself: got %d, want 404", got.Code)
	}
}

// The content security policy forbids inline code and external content. The scripts must never parse text as HTML,
// because rows, messages and mail contain untrusted data.
func TestScriptsNeverParseHTML(t *testing.T) {
	t.Parallel()
	page := os.DirFS("page")
	scripts, err := fs.Glob(page, "*.js")
	if err != nil || len(scripts) < 5 {
		t.Fatalf("got scripts %v, %v", scripts, err)
	}
	forbidden := regexp.MustCompile(
		`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser|Function\(|srcdoc|createContextualFr` +
			`agment|setHTML|https?://`)
	for _, name := range scripts {
		script, err := fs.ReadFile(page, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := forbidden.FindString(string(script)); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
	}
	index := build(t).serve(t, "GET", "/_local", nil).Body.String()
	if regexp.MustCompile(`<style| on[a-z]+=| style=`).MatchString(index) || strings.Count(index, "<script") != 1 {
		t.Error("index.html has inline code, which its policy forbids")
	}
}

func TestStateChangesRequirePost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, target string
		status         int
		body           string
		done           []string
	}{
		{"POST", "functions/SweeperFunction/fire", 200, `{"fired":"SweeperFunction"}`, []string{"fire SweeperFunction"}},
		{"POST", "functions/BrokenFunction/fire", 502, `{"error":"Runtime.ExitError: exit status 1"}`, nil},
		{
			"POST", "functions/ConnectFunction/fire", 404,
			`{"error":"fire \"ConnectFunction\": the function has no schedule"}`, nil,
		},
		{"POST", "functions/ExportWorkerFunction/kill", 200, `{"killed":2}`, []string{"kill ExportWorkerFunction"}},
		{"GET", "functions/SweeperFunction/fire", 405, "Method Not Allowed", nil},
		{"GET", "functions/SweeperFunction/kill", 405, "Method Not Allowed", nil},
		{"GET", "queues/q/redrive", 405, "Method Not Allowed", nil},
		{"GET", "queues/q/purge", 405, "Method Not Allowed", nil},
	}
	for _, test := range tests {
		f := build(t)
		got := f.serve(t, test.method, "/_local/api/"+test.target, nil)
		if body := strings.TrimSpace(got.Body.String()); got.Code != test.status || body != test.body {
			t.Errorf("%s %s: got %d %s, want %d %s", test.method, test.target, got.Code, body, test.status, test.body)
		}
		if diff := cmp.Diff(test.done, f.stack.done); diff != "" {
			t.Errorf("%s %s: done (-want +got):\n%s", test.method, test.target, diff)
		}
	}
}

func TestCrossOriginRequestsCannotChangeState(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		header  map[string]string
		allowed bool
	}{
		{"a program", nil, true},
		{"our own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:4566"}, true},
		{"our own page in an old browser", map[string]string{"Origin": "http://127.0.0.1:4566"}, true},
		{"a page elsewhere", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}, false},
		{"a page elsewhere in an old browser", map[string]string{"Origin": "https://elsewhere.example"}, false},
		{
			"a page on another port of this machine",
			map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
			false,
		},
		{"a page without an origin of its own", map[string]string{"Origin": "null"}, false},
	}
	for _, test := range tests {
		for _, target := range []string{
			"functions/SweeperFunction/fire", "functions/SweeperFunction/kill",
			"queues/q/redrive", "queues/q/purge",
		} {
			got := build(t).serve(t, "POST", "/_local/api/"+target, test.header)
			if allowed := got.Code != http.StatusForbidden; allowed != test.allowed {
				t.Errorf("%s, POST %s: got %d, allowed %v, want %v", test.name, target, got.Code, allowed, test.allowed)
			}
		}
	}
}

func TestReturnPageShowsRedirectParameters(t *testing.T) {
	t.Parallel()
	const target = "/_local/return?org_connection_id=c-1&endpoint_id=e-1&" +
		"external_state=%3Cscript%3Ealert(1)%3C/script%3E&external_state=2"
	f := build(t)
	page := f.serve(t, "GET", target, map[string]string{"Accept": "text/html,*/*"}).Body.String()
	for _, want := range []string{
		"<td>org_connection_id</td><td><code>c-1</code></td>", "<td>endpoint_id</td><td><code>e-1</code></td>",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "<code>2</code>", "<h1>Back in the application</h1>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("a parameter became a script")
	}
	got := f.serve(t, "GET", target, map[string]string{"Accept": "application/json"})
	want := `{"endpoint_id":"e-1","external_state":"\u003cscript\u003ealert(1)\u003c/script\u003e",` +
		`"org_connection_id":"c-1"}` + "\n"
	if diff := cmp.Diff(want, got.Body.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	failed := f.serve(t, "GET", "/_local/return?error=access_denied", nil).Body.String()
	if !strings.Contains(failed, "<h1>The connection failed</h1>") {
		t.Error("the page does not say that the connection failed")
	}
}
