// Package e2e_test performs whole journeys: the main job in this process under virtual time, with crashes after every
// call to the world outside, and with real processes that are killed.
package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	callbackwiring "recordbridge/functions/callback/wiring"
	connectwiring "recordbridge/functions/connect/wiring"
	createexportwiring "recordbridge/functions/createexport/wiring"
	downloadexportwiring "recordbridge/functions/downloadexport/wiring"
	exportworkerwiring "recordbridge/functions/exportworker/wiring"
	getconnectionwiring "recordbridge/functions/getconnection/wiring"
	getexportwiring "recordbridge/functions/getexport/wiring"
	getorgwiring "recordbridge/functions/getorg/wiring"
	sandboxehrwiring "recordbridge/functions/sandboxehr/wiring"
	sweeperwiring "recordbridge/functions/sweeper/wiring"
	webhookworkerwiring "recordbridge/functions/webhookworker/wiring"
	"recordbridge/infra/ctl/operator"
	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/infra/local/template"
	"recordbridge/shared/config"
	"recordbridge/shared/ids"
)

const (
	host    = "http://127.0.0.1:4566"
	baseURL = host + "/v1"
)

// stack is the whole service in this process: the real template, the production wiring of every function, the
// embedded AWS and the gateway, without a socket, so that it runs under virtual time.
type stack struct {
	t        testing.TB
	cloud    *aws.Cloud
	template *template.Template
	operator *operator.Operator
	seeded   runfile.Run
	inbox    *inbox.Inbox
	gateway  http.Handler
	logs     *bytes.Buffer
	orgID    string // of the first organisation

	mu        sync.Mutex
	functions map[string]*function
}

type options struct {
	dataDir string // bundles for the sandbox
}

func newStack(tb testing.TB, o options) *stack {
	tb.Helper()
	cloud, err := aws.New(aws.Options{URL: host})
	must(tb, err)
	tb.Cleanup(func() { _ = cloud.Close() })
	loaded, err := template.Load("../../template.yaml", template.Options{
		Parameters: map[string]string{
			"PublicBaseUrl": baseURL, "EnableSandbox": "true", "AllowedPrivateRanges": "127.0.0.0/8", "SandboxDataDir": o.dataDir,
			"ConnectRequestsPerMinute": "100000", "KeyedRequestsPerMinute": "100000",
		},
		BaseURL: host, StackName: "test",
	})
	must(tb, err)
	must(tb, provision.Apply(tb.Context(), cloud.Config("provision"), loaded))
	s := &stack{
		t: tb, cloud: cloud, template: loaded, inbox: inbox.New("/_local/inbox"), logs: &bytes.Buffer{},
		functions: map[string]*function{},
	}
	for _, declared := range loaded.Functions {
		s.functions[declared.LogicalID] = &function{stack: s, declared: declared}
	}
	s.gateway = gateway.New(gateway.Options{
		API: loaded.API, Functions: loaded.Functions, Invoker: s, Now: time.Now, RequestID: ids.Random, Log: slog.New(slog.DiscardHandler),
	})
	s.operator, err = operator.Open(tb.Context(), cloud.Config("operator"), loaded.Outputs,
		operator.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "test"})
	must(tb, err)
	s.seeded, err = seed.Apply(tb.Context(), s.operator, seed.Options{
		BaseURL: baseURL, ConsoleURL: host + "/_local", ReturnURL: host + "/_local/return", InboxURL: host + "/_local/inbox", DataDir: o.dataDir,
	})
	must(tb, err)
	own := s.call(http.MethodGet, "/bridge/org?public_id="+s.seeded.Organisations[0].PublicID, "", "", nil)
	var shown struct {
		ID string `json:"id"`
	}
	must(tb, json.Unmarshal(own.Data, &shown))
	s.orgID = shown.ID
	return s
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Do is the network of the stack: it reaches the API, the inbox and the files.
func (s *stack) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := httptest.NewRequest(r.Method, r.URL.RequestURI(), orEmpty(r.Body)).WithContext(r.Context())
	in.Header, in.Host, in.RemoteAddr = r.Header.Clone(), r.URL.Host, "127.0.0.1:40000"
	out := httptest.NewRecorder()
	switch {
	case r.URL.Host != "127.0.0.1:4566":
		return nil, errors.New("no such host")
	case strings.HasPrefix(r.URL.Path, "/_local/inbox"):
		s.inbox.ServeHTTP(out, in)
	case s.cloud.Handles(in):
		return s.cloud.Do(r)
	default:
		s.gateway.ServeHTTP(out, in)
	}
	return out.Result(), nil
}

func orEmpty(body io.ReadCloser) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return body
}

// function is one Lambda function with at most one instance, which a crash ends.
type function struct {
	stack    *stack
	declared template.Function
	mu       sync.Mutex
	life     *life
	serve    invocation
}

type invocation func(ctx context.Context, payload []byte) ([]byte, error)

// Invoke implements gateway.Invoker.
func (s *stack) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	return s.functions[name].invoke(ctx, payload)
}

func (f *function) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.declared.Timeout)
	defer cancel()
	f.mu.Lock()
	if f.life == nil {
		f.life = &life{}
	}
	current, serve := f.life, f.serve
	if serve == nil {
		var err error
		if serve, err = f.start(ctx, current); err != nil {
			f.life = f.life.reborn()
			f.mu.Unlock()
			return nil, &gateway.FunctionError{Type: "Runtime.ExitError", Message: err.Error()}
		}
		f.serve = serve
	}
	f.mu.Unlock()
	out, err := serve(ctx, payload)
	if current.isDead() {
		f.mu.Lock()
		f.life, f.serve = current.reborn(), nil
		f.mu.Unlock()
		return nil, &gateway.FunctionError{Type: "Runtime.ExitError", Message: "crashed"}
	}
	if err != nil {
		return nil, &gateway.FunctionError{Type: "Error", Message: err.Error()}
	}
	return out, nil
}

func (f *function) start(ctx context.Context, l *life) (invocation, error) {
	cfg := f.stack.cloud.Config(f.declared.LogicalID)
	cfg.HTTPClient = mortal{life: l, next: f.stack.cloud}
	process := config.Process{
		AWS: cfg, Logger: slog.New(slog.NewJSONHandler(&lockedWriter{mu: &f.stack.mu, to: f.stack.logs}, nil)), Now: time.Now,
		HTTP: mortal{life: l, next: f.stack},
	}
	lookup := func(name string) (string, bool) {
		value, ok := f.declared.Environment[name]
		return value, ok
	}
	return builders()[f.declared.Folder](ctx, lookup, process)
}

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

type builder func(ctx context.Context, lookup func(string) (string, bool), p config.Process) (invocation, error)

func builders() map[string]builder {
	return map[string]builder{
		"connect":        answering(connectwiring.Build),
		"callback":       answering(callbackwiring.Build),
		"createexport":   answering(createexportwiring.Build),
		"getexport":      answering(getexportwiring.Build),
		"downloadexport": answering(downloadexportwiring.Build),
		"getconnection":  answering(getconnectionwiring.Build),
		"getorg":         answering(getorgwiring.Build),
		"sandboxehr":     answering(sandboxehrwiring.Build),
		"exportworker":   answering(exportworkerwiring.Build),
		"webhookworker":  answering(webhookworkerwiring.Build),
		"sweeper":        silent(sweeperwiring.Build),
	}
}

// answering adapts the wiring of a function that returns something.
func answering[E, In, Out any, H ~func(context.Context, In) (Out, error)](build func(context.Context, E, config.Process) (H, error)) builder {
	return func(ctx context.Context, lookup func(string) (string, bool), p config.Process) (invocation, error) {
		env, err := config.LoadFrom[E](lookup)
		if err != nil {
			return nil, err
		}
		handler, err := build(ctx, env, p)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			var in In
			if err := json.Unmarshal(payload, &in); err != nil {
				return nil, err
			}
			out, err := handler(ctx, in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		}, nil
	}
}

// silent adapts the wiring of a function that only fails or does not.
func silent[E, In any, H ~func(context.Context, In) error](build func(context.Context, E, config.Process) (H, error)) builder {
	return answering(func(ctx context.Context, env E, p config.Process) (func(context.Context, In) (struct{}, error), error) {
		handler, err := build(ctx, env, p)
		return func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, handler(ctx, in) }, err
	})
}

var errCrashed = errors.New("this instance has crashed")

// life counts the calls that an instance makes to the world outside and ends after a set one: from then on nothing
// that the instance does has an effect, and its answer is thrown away, as after kill -9.
type life struct {
	mu         sync.Mutex
	calls      int
	crashAfter int // 0 for never
	dead       bool
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func (l *life) disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.crashAfter = 0
}

// reborn is the life of the next instance: it keeps counting, and does not crash again.
func (l *life) reborn() *life {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &life{calls: l.calls}
}

// mortal is a way out of an instance.
type mortal struct {
	life *life
	next interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

func (m mortal) Do(r *http.Request) (*http.Response, error) {
	if m.life.isDead() {
		return nil, errCrashed
	}
	answer, err := m.next.Do(r)
	m.life.mu.Lock()
	defer m.life.mu.Unlock()
	m.life.calls++
	if m.life.dead || m.life.calls == m.life.crashAfter {
		m.life.dead = true
		return nil, errCrashed
	}
	return answer, err
}

var _ awssdk.HTTPClient = mortal{}
