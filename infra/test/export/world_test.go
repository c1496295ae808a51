package exporttest_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	origin       = "https://ehr.example"
	mount        = origin + "/sandbox"
	callback     = "https://us.example/callback"
	taskID       = "0123456789abcdef0123456789abcdef"
	connectionID = "c0000000-0000-4000-8000-000000000001"
	wideScope    = "launch/patient offline_access patient/*.read"
	lease        = time.Minute
	maxRuns      = 300
)

var (
	tenant  = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errDead = errors.New("the worker has been killed")
)

// All tests share one sandbox and its personas so that records are built and indexed only once. Each export has a
// unique label in its URL, which keeps its counters and tokens separate.
var (
	people = sync.OnceValues(func() ([]persona.Persona, error) { return withOurs(persona.Builtin()) })
	portal = sync.OnceValues(func() (http.Handler, error) {
		all, err := people()
		if err != nil {
			return nil, err
		}
		return newSandbox(all)
	})
)

func withOurs(all []persona.Persona) ([]persona.Persona, error) {
	ours, err := persona.LoadDir("testdata")
	return append(all, ours...), err
}

func newSandbox(people []persona.Persona) (http.Handler, error) {
	return sandbox.New(sandbox.Deps{
		Identities: identityProvider(),
		BaseURL:    mount, Personas: people,
		Clients: []oauth.Client{{ID: sandbox.DefaultClientID, RedirectURIs: []string{callback}}},
		Store:   memstore.New(), Now: time.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
}

// named returns the sandbox persona with the given ID.
func named(t *testing.T, id string) persona.Persona {
	t.Helper()
	all, err := people()
	expect.NoError(t, err)
	for _, p := range all {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("no persona %s", id)
	return persona.Persona{}
}

// soaking reports whether slow cases run, as with `make soak`.
func soaking() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

// soakingLong reports whether the soak lasts at least ten minutes.
func soakingLong() bool {
	budget, err := time.ParseDuration(os.Getenv("RECORDBRIDGE_SOAK"))
	return err == nil && budget >= 10*time.Minute
}

// scenario specifies the persona, server and failures of one export.
type scenario struct {
	handler  http.Handler // if nil, the shared sandbox is used
	person   persona.Persona
	switches string // switches other than the label switch; empty for default behaviour
	label    string
	// platform whose profile is used; empty for the generic profile
	platform string
	opens    func(t *testing.T, doer smart.Doer, base string) tokens.Set // returns tokens; if nil, the person signs in
	// store for the properties discovered about servers; nil if there is none
	known    collect.Known
	mishap   func(address string, nth int) mishap
	lives    func(run int) (endsAt int, after bool) // point at which each run crashes; nil for no crashes
	deadline func(run int) time.Duration            // deadline of each run; nil for no deadline
}

func (s scenario) fhirBase() string {
	spec := "label:" + s.label
	if s.switches != "" {
		spec = s.switches + "," + spec
	}
	return mount + "/with/" + spec + "/fhir"
}

// result holds the state after an export has ended.
type result struct {
	scenario scenario
	task     export.Task
	events   []webhook.Event
	file     []byte
	keys     []string // keys of the remaining objects
	runs     int
	requests map[string]int
	foreign  []string // URLs of requests to other servers
	most     int      // highest number of concurrent requests
	took     time.Duration
}

// world holds a simulated worker's dependencies.
type world struct {
	scenario scenario
	wire     *wire
	grants   *grants
	tasks    *memory.Tasks
	files    memory.Files
	enqueued []time.Duration
}

// run runs the export until it ends, and must be called in a synctest bubble.
func (s scenario) run(t *testing.T) result {
	t.Helper()
	w := s.newWorld(t)
	began, runs := time.Now(), 0
	for w.tasks.Get(tenant, taskID).Status == export.Pending {
		if runs++; runs > maxRuns {
			t.Fatal("the task never ends")
		}
		w.await(runs)
		w.live(t, runs)
	}
	task := w.tasks.Get(tenant, taskID)
	var file []byte
	if len(task.Files) == 1 {
		file, _ = w.files.Get(task.Files[0].Key)
	}
	return result{
		scenario: s, task: task, events: w.tasks.Events(webhook.ExportSucceeded, webhook.ExportFailed), file: file,
		keys: w.files.Keys(), runs: runs,
		requests: w.wire.asked, foreign: w.wire.foreign, most: w.wire.most, took: time.Since(began),
	}
}

func (s scenario) newWorld(t *testing.T) *world {
	t.Helper()
	handler := s.handler
	if handler == nil {
		var err error
		handler, err = portal()
		expect.NoError(t, err)
	}
	calm := &wire{handler: handler, asked: map[string]int{}}
	portal := portalOf(calm)
	w := &world{
		scenario: s, tasks: memory.NewTasks(),
		wire:   &wire{handler: handler, asked: map[string]int{}, mishap: s.mishap},
		grants: &grants{portal: portal, endpoint: s.endpoint(), version: 1, turn: make(chan struct{}, 1)},
	}
	w.tasks.Put(pendingTask())
	if s.opens != nil {
		w.grants.set = s.opens(t, calm, s.fhirBase())
	} else {
		w.grants.set = s.connect(t, calm, portal)
	}
	return w
}

// pendingTask returns a task that no worker has claimed.
func pendingTask() export.Task {
	return export.Task{
		ID: taskID, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending,
		CreatedAt: time.Now(),
	}
}

func (s scenario) endpoint() catalog.Endpoint {
	return catalog.Endpoint{PlatformType: cmp.Or(s.platform, platform.Generic), FHIRBase: s.fhirBase()}
}

func profiles(t *testing.T) platform.Registry {
	t.Helper()
	registry, err := platform.NewRegistry()
	expect.NoError(t, err)
	return registry
}

// connect signs in the person and obtains tokens, as the callback function would.
func (s scenario) connect(t *testing.T, doer smart.Doer, portal smart.Portal) tokens.Set {
	t.Helper()
	authorizer := smart.NewAuthorizer(doer, rand.Reader, time.Now)
	verifier, challenge, err := authorizer.NewVerifier()
	expect.NoError(t, err)
	there := strings.TrimSuffix(s.fhirBase(), "/fhir")
	address, err := authorizer.AuthorizeURL(flow.Authorization{
		Endpoint: there + "/oauth/authorize", ClientID: sandbox.DefaultClientID, RedirectURI: callback,
		Scope: wideScope, State: "a-state-of-this-sign-in", Aud: s.fhirBase(), Challenge: challenge,
	})
	expect.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		address+"&persona="+s.person.ID+"&decision=approve", http.NoBody)
	expect.NoError(t, err)
	response, err := doer.Do(request)
	expect.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	back, err := response.Location()
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("no code: status %d, back to %v, %v", response.StatusCode, back, err)
	}
	profile, err := profiles(t).Profile(s.endpoint(), flow.Authority{Access: "read"})
	expect.NoError(t, err)
	set, err := portal.Exchange(t.Context(), flow.Grant{
		Attempt: flow.Attempt{
			Tenant:     tenant,
			Server:     flow.Server{TokenEndpoint: there + "/oauth/token", Issuer: there, FHIRBase: s.fhirBase()},
			Client:     flow.Client{ClientID: sandbox.DefaultClientID, Callback: callback},
			Parameters: flow.Parameters{Scope: wideScope, Extra: profile.Extra, RepeatScope: profile.RepeatScope},
		},
		Code: secret.New(back.Query().Get("code")), Verifier: verifier,
	})
	expect.NoError(t, err)
	return set
}

// await waits until a worker can claim the task, given the timing of the queue and the sweeper.
func (w *world) await(run int) {
	if run == 1 {
		return
	}
	wait := time.Until(w.tasks.SweepTime(tenant, taskID))
	if task := w.tasks.Get(tenant, taskID); (task.Deferred || task.LeaseUntil.IsZero()) && len(w.enqueued) > 0 {
		wait = min(wait, w.enqueued[len(w.enqueued)-1])
	}
	w.enqueued = nil
	<-time.After(max(wait, 0) + time.Millisecond)
}

// live runs a single worker invocation.
func (w *world) live(t *testing.T, run int) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	one := &invocation{end: end}
	if w.scenario.lives != nil {
		one.endsAt, one.after = w.scenario.lives(run)
	}
	var deadline time.Time
	if w.scenario.deadline != nil {
		if left := w.scenario.deadline(run); left > 0 {
			deadline = time.Now().Add(left)
		}
	}
	w.tasks.Around = func(_ string, effect func() error) error { return one.call(effect) }
	lasting := crashing{invocation: one, files: &w.files, enqueue: &w.enqueued}
	err := worker.Worker{
		Store: w.tasks, Refreshes: w.grants, Files: lasting, Enqueuer: lasting,
		Source: source.Opener{
			Tokens: w.grants, Portals: portalOf(network{one, w.wire}), Now: time.Now,
			Profiles: source.Profiles{Connections: w.grants, Endpoints: w.grants, Platforms: profiles(t)},
		},
		Share: share.New(w.tasks, lasting, 1, lease, time.Now),
		Known: w.scenario.known, Links: newLinks(t), Now: time.Now, Lease: lease, Retention: 8 * 24 * time.Hour,
		Manifests: jws.NewKeyring(vaulttest.New(t), []string{"ec1"}), AddMetaSource: true,
	}.Work(ctx, tenant, taskID, deadline)
	if err != nil && !one.over() {
		t.Fatalf("run %d: %v", run, err)
	}
}

// network is a smart.Doer that fails once its invocation has crashed.
type network struct {
	invocation *invocation
	doer       smart.Doer
}

func (n network) Do(r *http.Request) (response *http.Response, err error) {
	err = n.invocation.call(func() error {
		response, err = n.doer.Do(r) //nolint:bodyclose // the caller closes it, or the next lines do
		return err
	})
	if err != nil && response != nil {
		_ = response.Body.Close()
		response = nil
	}
	return response, err
}

func newLinks(tb testing.TB) export.Links {
	tb.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("a", 43) + `"}`))
	expect.NoError(tb, err)
	return export.Links{Keys: ring, BaseURL: "https://api.example/v1"}
}
