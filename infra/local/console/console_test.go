package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/console"
	"recordbridge/infra/local/triggers"
)

// stack is a stack that notes what it is told to do.
type stack struct{ done []string }

func (s *stack) State() console.State {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return console.State{
		BaseURL: "http://127.0.0.1:4566/v1", InboxURL: "http://127.0.0.1:4566/_local/inbox", RunFile: ".local/run.json",
		Functions: []console.Function{{ID: "SweeperFunction", Schedule: "every 1m0s", Processes: 1, Invocations: 3, Log: []string{"<script>"}}},
		Queues:    []console.Queue{{Name: "local-ExportQueue", Visible: 1, InFlight: 2, Delayed: 3}},
		Mails:     []console.Mail{{At: at, To: []string{"admin@alder.example"}, Subject: "Webhook disabled", Text: "…"}},
		Webhooks:  []console.Webhook{{ReceivedAt: at, Path: "/_local/inbox/alder", Verdict: "verified", Body: "{}"}},
	}
}

func (s *stack) Fire(_ context.Context, function string) error {
	switch function {
	case "SweeperFunction":
		s.done = append(s.done, "fire "+function)
		return nil
	case "BrokenFunction":
		return errors.New("Runtime.ExitError: exit status 1")
	default:
		return fmt.Errorf("fire %q: %w", function, triggers.ErrNoSchedule)
	}
}

func (s *stack) Kill(function string) int {
	s.done = append(s.done, "kill "+function)
	return 2
}

func serve(t *testing.T, s *stack, method, target string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	handler, err := console.New(s)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(method, "http://127.0.0.1:4566"+target, http.NoBody)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestThePageIsStaticAndMayRunNothingButItsOwnScript(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/_local": "text/html; charset=utf-8", "/_local/console.js": "text/javascript; charset=utf-8", "/_local/console.css": "text/css; charset=utf-8",
	} {
		got := serve(t, &stack{}, "GET", path, nil)
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != want {
			t.Errorf("GET %s: got %d %q, want 200 %q", path, got.Code, got.Header().Get("Content-Type"), want)
		}
		policy := got.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s: got policy %q", path, policy)
		}
	}
	if got := serve(t, &stack{}, "GET", "/_local/", nil); got.Code != http.StatusMovedPermanently || got.Header().Get("Location") != "/_local" {
		t.Errorf("GET /_local/: got %d to %q", got.Code, got.Header().Get("Location"))
	}
}

// The policy forbids inline code; and nothing from outside may ever be parsed as HTML.
func TestTheScriptParsesNothingAsHTML(t *testing.T) {
	t.Parallel()
	script := serve(t, &stack{}, "GET", "/_local/console.js", nil).Body.String()
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"} {
		if strings.Contains(script, word) {
			t.Errorf("console.js uses %s", word)
		}
	}
	page := serve(t, &stack{}, "GET", "/_local", nil).Body.String()
	if regexp.MustCompile(`<style| on[a-z]+=| style=`).MatchString(page) || strings.Count(page, "<script") != 1 {
		t.Error("index.html has inline code, which its policy forbids")
	}
}

func TestTheState(t *testing.T) {
	t.Parallel()
	got := serve(t, &stack{}, "GET", "/_local/state", nil)
	want, err := os.ReadFile(filepath.Join("testdata", "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.Body.String()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if got := got.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("got content type %q", got)
	}
}

func TestAScheduleIsFiredAndAFunctionKilledByPOSTOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, target string
		status         int
		body           string
		done           []string
	}{
		{"POST", "/_local/fire/SweeperFunction", 200, `{"fired":"SweeperFunction"}`, []string{"fire SweeperFunction"}},
		{"POST", "/_local/fire/BrokenFunction", 502, `{"error":"Runtime.ExitError: exit status 1"}`, nil},
		{"POST", "/_local/fire/ConnectFunction", 404, `{"error":"fire \"ConnectFunction\": the function has no schedule"}`, nil},
		{"POST", "/_local/kill/ExportWorkerFunction", 200, `{"killed":2}`, []string{"kill ExportWorkerFunction"}},
		{"GET", "/_local/fire/SweeperFunction", 405, "Method Not Allowed", nil},
		{"GET", "/_local/kill/SweeperFunction", 405, "Method Not Allowed", nil},
	}
	for _, test := range tests {
		s := &stack{}
		got := serve(t, s, test.method, test.target, nil)
		if body := strings.TrimSpace(got.Body.String()); got.Code != test.status || body != test.body {
			t.Errorf("%s %s: got %d %s, want %d %s", test.method, test.target, got.Code, body, test.status, test.body)
		}
		if diff := cmp.Diff(test.done, s.done); diff != "" {
			t.Errorf("%s %s: done (-want +got):\n%s", test.method, test.target, diff)
		}
	}
}

func TestAPageElsewhereCannotFireAnything(t *testing.T) {
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
		{"a page on another port of this machine", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"}, false},
		{"a page without an origin of its own", map[string]string{"Origin": "null"}, false},
	}
	for _, test := range tests {
		for _, target := range []string{"/_local/fire/SweeperFunction", "/_local/kill/SweeperFunction"} {
			s := &stack{}
			got := serve(t, s, "POST", target, test.header)
			if allowed := len(s.done) == 1; allowed != test.allowed {
				t.Errorf("%s, POST %s: got %d, allowed %v, want %v", test.name, target, got.Code, allowed, test.allowed)
			}
			if !test.allowed && got.Code != http.StatusForbidden {
				t.Errorf("%s, POST %s: got %d, want 403", test.name, target, got.Code)
			}
		}
	}
}

func TestTheReturnPageShowsWhatTheRedirectBrought(t *testing.T) {
	t.Parallel()
	const target = "/_local/return?org_connection_id=c-1&endpoint_id=e-1&external_state=%3Cscript%3Ealert(1)%3C/script%3E&external_state=2"
	page := serve(t, &stack{}, "GET", target, map[string]string{"Accept": "text/html,*/*"}).Body.String()
	for _, want := range []string{
		"<td>org_connection_id</td><td><code>c-1</code></td>", "<td>endpoint_id</td><td><code>e-1</code></td>",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "<code>2</code>", "<h1>Back at the customer</h1>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("a parameter became a script")
	}
	got := serve(t, &stack{}, "GET", target, map[string]string{"Accept": "application/json"})
	want := `{"endpoint_id":"e-1","external_state":"\u003cscript\u003ealert(1)\u003c/script\u003e","org_connection_id":"c-1"}` + "\n"
	if diff := cmp.Diff(want, got.Body.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	failed := serve(t, &stack{}, "GET", "/_local/return?error=access_denied", nil).Body.String()
	if !strings.Contains(failed, "<h1>The connection was not made</h1>") {
		t.Error("the page does not say that the connection failed")
	}
}
