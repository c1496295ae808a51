package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// feed is a small GET /bridge/events: cursors are positions, and a page has at most two events.
type feed struct {
	*httptest.Server

	mu     sync.Mutex
	bodies []string
	busy   int // number of requests to reject with 429
}

func newFeed(t *testing.T, bodies ...string) *feed {
	t.Helper()
	f := &feed{bodies: bodies}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *feed) add(body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies = append(f.bodies, body)
}

func (f *feed) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if user, key, _ := r.BasicAuth(); user != "public_test_1" || key != "private_test_1" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"svc_unauthorized_client","error_description":"The key is wrong."}`)
		return
	}
	if f.busy > 0 {
		f.busy--
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":"svc_rate_limited","error_description":"Too many requests."}`)
		return
	}
	from := 0
	if after := r.URL.Query().Get("after"); after != "" {
		var err error
		if from, err = strconv.Atoi(after); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"svc_invalid_request","error_description":"The cursor is invalid."}`)
			return
		}
	}
	to := min(from+2, len(f.bodies))
	fmt.Fprintf(w, `{"success":true,"data":{"events":[%s],"after":"%d","has_more":%t}}`,
		strings.Join(f.bodies[from:to], ","), to, to < len(f.bodies))
}

// hook is a developer's webhook that records what it receives.
type hook struct {
	*httptest.Server

	mu     sync.Mutex
	ids    []string
	header http.Header
	body   []byte
	status int
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusNoContent}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.body, _ = io.ReadAll(r.Body)
		h.header = r.Header
		h.ids = append(h.ids, r.Header.Get("Webhook-Id"))
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) received() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}

func body(id string) string {
	return `{"api_mode":"test","date":"2026-11-29T10:00:00Z","id":"` + id +
		`","type":"patient.ehi_export_success","data":{"task_id":"t-` + id + `"}}`
}

// newTool returns a tool that uses the feed. Each wait calls the function; a nil function ends the run.
func newTool(t *testing.T, f *feed, waits ...func()) (tool, *bytes.Buffer) {
	t.Helper()
	environment := map[string]string{
		"RECORDBRIDGE_URL": f.URL, "RECORDBRIDGE_PUBLIC_ID": "public_test_1", "RECORDBRIDGE_PRIVATE_KEY": "private_test_1",
		"RECORDBRIDGE_STATE": t.TempDir(),
	}
	out := &bytes.Buffer{}
	return tool{
		out: out, getenv: func(name string) string { return environment[name] }, now: time.Now, client: http.DefaultClient,
		wait: func(context.Context, time.Duration) error {
			if len(waits) == 0 {
				return context.Canceled
			}
			next := waits[0]
			waits = waits[1:]
			next()
			return nil
		},
	}, out
}

// listen runs listen until the waits are used up.
func listen(t *testing.T, tool tool, args ...string) {
	t.Helper()
	if err := tool.run(t.Context(), append([]string{"listen"}, args...)); !errors.Is(err, context.Canceled) {
		t.Fatalf("listen: %v", err)
	}
}

func TestListenForwardsNewEventsWithValidSignature(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t, body("old-1"), body("old-2"), body("old-3")), newHook(t)
	tool, out := newTool(t, f, func() { f.add(body("new")) })
	listen(t, tool, "-to", h.URL)
	if got := h.received(); !slices.Equal(got, []string{"new"}) {
		t.Fatalf("received %v", got)
	}
	if string(h.body) != body("new") {
		t.Errorf("the body is %s", h.body)
	}
	_, secret, _ := strings.Cut(out.String(), "Signing secret: ")
	secret, _, _ = strings.Cut(secret, "\n")
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(h.body, h.header); err != nil {
		t.Errorf("verify: %v", err)
	}
	if !strings.Contains(out.String(), "patient.ehi_export_success") || !strings.Contains(out.String(), "→ 204 in ") {
		t.Errorf("the output is %s", out)
	}
}

func TestListenContinuesAfterLastEventOfEarlierRun(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t, body("1")), newHook(t)
	tool, out := newTool(t, f)
	listen(t, tool, "-to", h.URL)
	first, _, _ := strings.Cut(out.String(), "Press")
	f.add(body("2"))
	out.Reset()
	listen(t, tool)
	if got := h.received(); !slices.Equal(got, []string{"2"}) {
		t.Errorf("received %v", got)
	}
	if again, _, _ := strings.Cut(out.String(), "Press"); again != first {
		t.Errorf("the second run printed %q, the first %q", again, first)
	}
}

func TestListenSendsStoredEventsWhenAllIsSet(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t, body("1"), body("2"), body("3")), newHook(t)
	tool, _ := newTool(t, f)
	listen(t, tool, "-to", h.URL, "-all")
	if got := h.received(); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("received %v", got)
	}
}

func TestListenWaitsAndContinuesWhenAPIRateLimits(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t), newHook(t)
	f.busy = 1
	tool, out := newTool(t, f, func() {}, func() { f.add(body("1")) })
	listen(t, tool, "-to", h.URL)
	if got := h.received(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("received %v", got)
	}
	if !strings.Contains(out.String(), "svc_rate_limited: Too many requests.; trying again in 7s") {
		t.Errorf("the output is %s", out)
	}
}

func TestListenStartsOverWhenCursorIsRejected(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t, body("1")), newHook(t)
	tool, out := newTool(t, f)
	a := account{baseURL: f.URL, publicID: "public_test_1", privateKey: "private_test_1"}
	m, err := tool.recall(a)
	if err != nil {
		t.Fatal(err)
	}
	m.URL, m.After = h.URL, "expired"
	if err := m.keep(); err != nil {
		t.Fatal(err)
	}
	listen(t, tool)
	if got := h.received(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("received %v: %s", got, out)
	}
}

func TestReplaySendsEventAgainOrReportsUnknownID(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t, body("1"), body("2"), body("3")), newHook(t)
	tool, _ := newTool(t, f)
	if err := tool.run(t.Context(), []string{"replay", "-to", h.URL, "-id", "3"}); err != nil {
		t.Fatal(err)
	}
	if got := h.received(); !slices.Equal(got, []string{"3"}) {
		t.Errorf("received %v", got)
	}
	err := tool.run(t.Context(), []string{"replay", "-id", "4"})
	if err == nil || !strings.Contains(err.Error(), "no event of the last 15 days has the ID 4") {
		t.Errorf("replay of an unknown event: %v", err)
	}
}

func TestTriggerSendsExampleOfEachType(t *testing.T) {
	t.Parallel()
	f, h := newFeed(t), newHook(t)
	tool, _ := newTool(t, f)
	for name := range strings.SplitSeq(allTypes(), ",") {
		if err := tool.run(t.Context(), []string{"trigger", "-to", h.URL, "-type", name}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got struct {
			Mode string         `json:"api_mode"`
			Type string         `json:"type"`
			Data map[string]any `json:"data"`
		}
		if err := json.Unmarshal(h.body, &got); err != nil || got.Mode != "test" || got.Type != name || len(got.Data) == 0 {
			t.Errorf("%s: received %s", name, h.body)
		}
	}
	h.status = http.StatusBadRequest
	if err := tool.run(t.Context(), []string{"trigger"}); err == nil {
		t.Error("trigger reported success for a response of 400")
	}
}

func TestToolRejectsLiveKeyRemoteURLAndUnknownInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		change map[string]string
		want   string
	}{
		"live key": {
			args: []string{"listen", "-to", "http://localhost:1"}, want: "this is a live-mode key",
			change: map[string]string{"RECORDBRIDGE_PRIVATE_KEY": "private_live_1"},
		},
		"remote host": {args: []string{"listen", "-to", "https://example.org/hook"}, want: "isn't on this machine"},
		"no URL":      {args: []string{"listen"}, want: "-to is required"},
		"wrong key": {
			args: []string{"listen", "-to", "http://localhost:1"}, want: "The key is wrong.",
			change: map[string]string{"RECORDBRIDGE_PRIVATE_KEY": "x"},
		},
		"unknown type": {args: []string{"trigger", "-type", "x"}, want: `unknown event type "x"`},
		"no run file": {
			args: []string{"listen", "-run-file", "nowhere"}, want: "start make run",
			change: map[string]string{"RECORDBRIDGE_URL": ""},
		},
		"other command": {args: []string{"hear"}, want: `unknown command "hear"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, _ := newTool(t, newFeed(t))
			getenv := tool.getenv
			tool.getenv = func(name string) string {
				if value, ok := c.change[name]; ok {
					return value
				}
				return getenv(name)
			}
			if err := tool.run(t.Context(), c.args); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
