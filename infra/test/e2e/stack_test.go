package e2e_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/gateway"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/seed"
	"recordbridge/infra/local/template"
	"recordbridge/infra/test/contract"
	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/config"
	"recordbridge/shared/words/ids"
)

const (
	host = "http://127.0.0.1:4566"
	// customer is the base URL of the simulated customer servers, whose port differs from the service's.
	customer = "http://127.0.0.1:4568"
	baseURL  = host + "/v1"
)

// stack is the complete service in this process: the project's template, every function's production wiring, the
// embedded AWS and the gateway. The stack uses no sockets, because it runs in virtual time.
type stack struct {
	*outside

	queues  queues
	clock   clock
	state   state
	check   checks
	catalog catalogs
	ehr     ehr
	staff   staff

	cloud    *aws.Cloud
	template *template.Template
	retryer  func() awssdk.Retryer
	options  []func(*middleware.Stack) error // production's options of SDK clients
	plan     *faults.Plan                    // fault plan; nil if no faults are injected
	pollers  int                             // number of pollers per queue; 0 means 1
	rows     *dynamodb.Client                // client for tests that inspect rows
	inbox    *inbox.Inbox
	gateway  http.Handler
	logs     *bytes.Buffer

	authority     *iam.Authority
	expectDenials bool
	tap           *wiretap // traffic recorder; may be nil
	// replaces the server's response unless intercept is nil or returns nil
	intercept func(r *http.Request) *http.Response
	// returns the error for a request to an unreachable external server; may be nil
	unreached func(r *http.Request) error
	log       func(io.Writer) *slog.Logger
	meter     *meter // counts calls and invocations; may be nil

	mu        sync.Mutex
	functions map[string]*function
}

type options struct {
	dataDir string                                          // folder with the sandbox's bundles
	logOff  bool                                            // whether the parameter RequestLog is off
	plan    *faults.Plan                                    // fault plan, paused until the scenario starts
	grants  func([]template.Function) []template.Function   // modifies the functions' permissions; may be nil
	made    func([]template.Parameter) []template.Parameter // modifies the parameters; may be nil
	tap     *wiretap
	// creates the functions' logger; the default does not redact, so that tests see leaked secrets
	log        func(io.Writer) *slog.Logger
	middleware wire.Middleware // middleware in front of the embedded AWS; may be nil
	// initial catalogue; empty if the test publishes a catalogue
	catalog shipped.Choice
}

func newStack(tb testing.TB, o options) *stack {
	tb.Helper()
	production, err := config.AWS()
	expect.NoError(tb, err)
	loaded, err := usual()
	if o.dataDir != "" || o.logOff {
		loaded, err = load(o.dataDir, map[bool]string{true: "off", false: "on"}[o.logOff])
	}
	expect.NoError(tb, err)
	if o.made != nil {
		before := *loaded
		before.Parameters = o.made(loaded.Parameters)
		loaded = &before
	}
	authority, err := iam.New(o.permitted(loaded))
	expect.NoError(tb, err)
	cloud, err := aws.New(o.attached(authority))
	expect.NoError(tb, err)
	tb.Cleanup(func() { _ = cloud.Close() })
	expect.NoError(tb, provision.Apply(tb.Context(), cloud.Config("provision"), loaded))
	s := &stack{
		outside: (&outside{t: tb, secrets: map[string]string{}}).assemble(), cloud: cloud, authority: authority, tap: o.tap,
		retryer: production.Retryer, options: production.APIOptions, plan: o.plan, template: loaded,
		inbox: inbox.New("/_local/inbox"), logs: &bytes.Buffer{},
		functions: map[string]*function{}, log: o.log,
		rows: dynamodb.NewFromConfig(cloud.Config("test")),
	}
	s.assemble()
	tb.Cleanup(func() { s.checkNothingDenied(tb) })
	// lets background work time out, including that of crashed instances
	tb.Cleanup(func() { <-time.After(3 * time.Second) })
	home := tb.TempDir()
	beside, err := deployed()
	expect.NoError(tb, err)
	for _, declared := range loaded.Functions {
		s.functions[declared.LogicalID] = &function{
			stack: s, declared: declared, starting: make(chan struct{}, 1),
			dir: filepath.Join(home, declared.Folder), root: beside,
		}
	}
	s.queues.attach()
	s.gateway = gateway.New(gateway.Options{
		API: loaded.API, Functions: loaded.Functions, Invoker: s, Now: time.Now, RequestID: ids.Random,
		Log: slog.New(slog.DiscardHandler),
	})
	s.operator, err = wiring.Open(tb.Context(), cloud.Config("operator"), loaded.Outputs,
		wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "test", HTTP: s})
	expect.NoError(tb, err)
	s.seeded, err = seed.Apply(tb.Context(), s.operator, seed.Options{
		BaseURL: baseURL, ConsoleURL: host + "/_local", ReturnURL: customer + "/_local/return",
		InboxURL: customer + "/_local/inbox", DataDir: o.dataDir,
		Catalog: o.catalog,
	})
	expect.NoError(tb, err)
	key, err := signingKey()
	expect.NoError(tb, err)
	_, err = store.Sandbox{DB: s.rows, Table: "test-SandboxTable"}.Swap(tb.Context(), "KEY#id-token", nil, key,
		time.Now().AddDate(10, 0, 0))
	expect.NoError(tb, err)
	s.do, s.received, s.tick, s.mostTicks = s.Do, s.inbox.List, func() { s.clock.advance(1) }, 15
	if o.plan != nil {
		cloud.SQS().Disturb(o.plan.Disorder)
		cloud.DynamoDB().LagIndexes(o.plan.IndexLag)
	}
	return s
}

// signingKey returns the sandbox's key for signing id_tokens (infra/sandbox/oauth). All stacks share one key, because
// generating a key is slow.
var signingKey = sync.OnceValues(func() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the key: %w", err)
	}
	return x509.MarshalPKCS8PrivateKey(key)
})

// usual loads the template for a sandbox without bundles. The template is loaded once and shared by all tests, so tests
// must not modify it.
var usual = sync.OnceValues(func() (*template.Template, error) { return load("", "on") })

// load reads the template and its permissions, using the output of SAM's transform if .ci/run has created it. dataDir
// contains the sandbox's bundles. requestLog is the parameter RequestLog.
func load(dataDir, requestLog string) (*template.Template, error) {
	o := template.Options{
		Parameters: map[string]string{
			"RequestLog":    requestLog,
			"Release":       "1764420000-0.1.0-1a2b3c4d5e6f",
			"PublicBaseUrl": baseURL, "EnableSandbox": "true", "AllowedPrivateRanges": "127.0.0.0/8",
			"EndpointProbes": "private", "SandboxDataDir": dataDir,
			"MailFrom":               "notices@example.com",
			"SupportMail":            operatorsAddress,
			"DashboardUrl":           "http://localhost:4566/v1/dashboard", // passkeys don't work with an IP address
			"CodesPerMailboxAndHour": "5", "CodesPerClientAndHour": "1000",
			"ExportsPerOrganisation":   "1", // a second export must wait for the first
			"ConnectRequestsPerMinute": "100000", "KeyedRequestsPerMinute": "100000", "SearchesPerMinute": "100000",
		},
		BaseURL: host, StackName: "test",
	}
	t, err := template.Load("../../../template.yaml", o)
	file := os.Getenv("RECORDBRIDGE_TRANSFORMED")
	if err != nil || file == "" {
		return t, err
	}
	allowed, err := template.Permissions(file, o)
	for i, f := range t.Functions {
		t.Functions[i].Statements = allowed[f.LogicalID]
	}
	return t, err
}

// deployed returns a folder with the files deployed next to every binary: the pages and the documentation site. The
// folder is created once and shared by all tests, so tests must not modify it. TestMain deletes the folder when the
// tests end.
var deployed = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "recordbridge-e2e-")
	if err != nil {
		return "", err
	}
	return folder, errors.Join(built.Into(filepath.Join(folder, "ui")), built.SiteInto(filepath.Join(folder, "site")))
})

// permitted returns the template with the permissions set by the options.
func (o options) permitted(loaded *template.Template) *template.Template {
	permitted := *loaded
	if o.grants != nil {
		permitted.Functions = o.grants(loaded.Functions)
	}
	return &permitted
}

// attached returns the embedded AWS's options. The permission check comes last so that it sees only the calls that the
// other middleware forwards.
func (o options) attached(authority *iam.Authority) aws.Options {
	configured := aws.Options{URL: host}
	if o.tap != nil {
		configured.Middleware = append(configured.Middleware, o.tap.queues)
	}
	if o.middleware != nil {
		configured.Middleware = append(configured.Middleware, o.middleware)
	}
	if o.plan != nil {
		o.plan.Pause(true)
		configured.Middleware, configured.Skew = append(configured.Middleware, o.plan.Middleware()), o.plan.Skew
	}
	configured.Middleware = append(configured.Middleware, authority.Middleware())
	return configured
}

// Do sends a request on the stack's network, which connects to the API, the inbox and the files.
func (s *stack) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	sent, err := io.ReadAll(orEmpty(r.Body))
	if err != nil {
		return nil, err
	}
	if s.unreached != nil {
		if err := s.unreached(r); err != nil {
			return nil, err
		}
	}
	if s.intercept != nil {
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if answer := s.intercept(r); answer != nil {
			return answer, nil
		}
	}
	in := httptest.NewRequest(r.Method, r.URL.RequestURI(), bytes.NewReader(sent)).WithContext(r.Context())
	in.Header, in.Host, in.RemoteAddr = r.Header.Clone(), r.URL.Host, "127.0.0.1:40000"
	out := httptest.NewRecorder()
	switch {
	case r.URL.Host != strings.TrimPrefix(host, "http://") &&
		(r.URL.Host != strings.TrimPrefix(customer, "http://") || !strings.HasPrefix(r.URL.Path, "/_local/")):
		return nil, errors.New("no such host")
	case strings.HasPrefix(r.URL.Path, "/_local/inbox"):
		s.inbox.ServeHTTP(out, in)
		if in.Method == http.MethodPost {
			checkEvent(s.t, in.Header, sent)
		}
	case s.cloud.Handles(in):
		r.Body = io.NopCloser(bytes.NewReader(sent))
		return s.cloud.Do(r)
	default:
		s.gateway.ServeHTTP(out, in)
		checkAnswer(s.t, in.Method, strings.TrimPrefix(in.URL.Path, "/v1"),
			contract.Answer{Status: out.Code, Header: out.Header(), Body: out.Body.Bytes()})
	}
	if s.tap != nil {
		s.tap.network(r, sent, out.Code, out.Header(), out.Body.Bytes())
	}
	return out.Result(), nil
}

func orEmpty(body io.ReadCloser) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return body
}
