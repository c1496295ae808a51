package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/memory"
	"recordbridge/infra/testkit/vaulttest"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	taskID       = "0123456789abcdef0123456789abcdef"
	connectionID = "c0000000-0000-4000-8000-000000000001"
	wideScope    = "openid launch/patient patient/*.read"
	lease        = time.Minute
	places       = 3
)

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errTrouble = errors.New("trouble on our side")
)

// afterWait is the delay between the end of a task's wait and the delivery of its message.
const afterWait = time.Second

// files stores objects and can make Close fail.
type files struct {
	memory.Files

	refuse  string       // Close fails for keys that contain this text
	failing error        // returned when an upload ends, if set
	closed  func(string) // called with the key of each closed object
}

func (f *files) Create(ctx context.Context, key, contentType string) (export.Writer, error) {
	w, err := f.Files.Create(ctx, key, contentType)
	return &upload{Writer: w, files: f, key: key}, err
}

type upload struct {
	export.Writer

	files *files
	key   string
}

func (u *upload) Close(ctx context.Context) error {
	if u.files.failing != nil {
		u.Abort(ctx)
		return u.files.failing
	}
	if u.files.refuse != "" && strings.Contains(u.key, u.files.refuse) {
		u.Abort(ctx)
		return errTrouble
	}
	if err := u.Writer.Close(ctx); err != nil {
		return err
	}
	if u.files.closed != nil {
		u.files.closed(u.key)
	}
	return nil
}

// workStore stores a single task and fails on demand.
type workStore struct {
	*memory.Tasks

	crashAfter int           // number of successful ContinueTask calls before one fails; 0 if none fails
	finish     func() error  // replaces FinishTask, if set
	answer     time.Duration // delay before FinishTask returns
	saves      int           // number of successful ContinueTask calls
	extends    int
}

func (s *workStore) around(call string, effect func() error) error {
	switch call {
	case "ExtendTask", "ReportTask":
		return counted(&s.extends, effect)
	case "ContinueTask":
		if s.crashAfter > 0 && s.saves >= s.crashAfter {
			return errTrouble
		}
		return counted(&s.saves, effect)
	case "FinishTask":
		defer func() { <-time.After(s.answer) }()
		if s.finish != nil {
			return s.finish()
		}
	}
	return effect()
}

// counted calls effect, increments calls on success, and returns effect's error.
func counted(calls *int, effect func() error) error {
	err := effect()
	if err == nil {
		*calls++
	}
	return err
}

// fakeTokens provides the tokens, connection and profile of a single patient.
type fakeTokens struct {
	set        tokens.Set
	current    error
	renew      error
	hang       bool // whether Current blocks until its context ends
	renewed    int
	profile    plan.Profile
	catalogued string // FHIR base URL in the catalogue; empty if there is none
	due        error
	dues       []string // IDs passed to RefreshDue
}

func (d *fakeTokens) RefreshDue(_ context.Context, _ org.Tenant, id string, _ time.Time) error {
	d.dues = append(d.dues, id)
	return d.due
}

func (*fakeTokens) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{EndpointID: "e0000000-0000-4000-8000-000000000001"}, nil
}

func (d *fakeTokens) Endpoint(context.Context, string) (catalog.Endpoint, error) {
	return catalog.Endpoint{FHIRBase: d.catalogued}, nil
}

func (d *fakeTokens) Asking(catalog.Endpoint) (plan.Profile, error) { return d.profile, nil }

func (d *fakeTokens) Current(ctx context.Context, _ org.Tenant, _ string) (tokens.Usable, error) {
	if d.hang {
		<-ctx.Done()
		return tokens.Usable{}, ctx.Err()
	}
	return tokens.Usable{Set: d.set, Version: 1}, d.current
}

func (d *fakeTokens) Renew(_ context.Context, _ org.Tenant, _ string, used int64) (tokens.Usable, error) {
	d.renewed++
	if d.renew != nil {
		return tokens.Usable{}, d.renew
	}
	d.set.AccessToken = secret.New("renewed")
	return tokens.Usable{Set: d.set, Version: used + 1}, nil
}

type enqueued struct {
	mu     sync.Mutex
	tasks  []time.Duration // delay of each message sent
	events []string
}

func (n *enqueued) EnqueueTask(_ context.Context, _ org.Tenant, _ string, delay time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tasks = append(n.tasks, delay)
	return errTrouble // the worker must tolerate lost messages
}

func (n *enqueued) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, id)
	return errTrouble
}

// bench is a worker with all its dependencies. Create a bench inside a synctest bubble to use the bubble's clock.
type bench struct {
	server   *fakeFHIR
	store    *workStore
	files    *files
	tokens   *fakeTokens
	enqueued *enqueued
	vault    *vaulttest.Vault // holds the manifest key, ec1
	worker   worker.Worker
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		server: newFakeFHIR(t),
		store:  &workStore{Tasks: memory.NewTasks()},
		files:  &files{},
		tokens: &fakeTokens{set: tokens.Set{
			AccessToken: secret.New("first"), PatientID: secret.New(patientID), Scope: wideScope, FHIRBase: base,
		}},
		enqueued: &enqueued{}, vault: vaulttest.New(t),
	}
	b.store.Around = b.store.around
	b.store.Put(export.Task{
		ID: taskID, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending,
		CreatedAt: time.Now(),
	})
	b.worker = worker.Worker{
		Store: b.store, Refreshes: b.tokens, Files: b.files, Enqueuer: b.enqueued, Links: newLinks(t, "1"), Now: time.Now,
		Source: source.Opener{
			Tokens: b.tokens, Portals: smart.NewPortal(b.server, nil, nil, time.Now), Now: time.Now,
			Profiles: source.Profiles{Connections: b.tokens, Endpoints: b.tokens, Platforms: b.tokens},
		},
		Share:     share.New(b.store, b.enqueued, places, lease, time.Now),
		Manifests: jws.NewKeyring(b.vault, []string{"ec1"}), Release: "1764420000-0.1.0-1a2b3c4d5e6f",
		Lease: lease, Retention: 8 * 24 * time.Hour, AddMetaSource: true,
	}
	return b
}

func (b *bench) task() export.Task { return b.store.Get(tenant, taskID) }

// change modifies the bench's only task, regardless of its lease.
func (b *bench) change(change func(task *export.Task)) { b.store.Change(tenant, taskID, change) }

// results returns the events that report the task's success or failure.
func (b *bench) results() []webhook.Event {
	return b.store.Events(webhook.ExportSucceeded, webhook.ExportFailed)
}

// work runs the worker once. The runFor argument is the time until the worker's deadline, or zero if there is no
// deadline.
func (b *bench) work(t *testing.T, runFor time.Duration) {
	t.Helper()
	var deadline time.Time
	if runFor > 0 {
		deadline = time.Now().Add(runFor)
	}
	if err := b.worker.Work(t.Context(), tenant, taskID, deadline); err != nil {
		t.Fatalf("Work: %v", err)
	}
	b.server.synchronize()
	if n := b.files.Unfinished(); n != 0 {
		t.Errorf("%d objects were begun and neither closed nor given up", n)
	}
}

// finish runs the worker until the task ends, waiting as long as each run's result requires. It returns the number of
// runs.
func (b *bench) finish(t *testing.T) (runs int) {
	t.Helper()
	for b.task().Status == export.Pending {
		if task := b.task(); !task.LeaseUntil.IsZero() {
			<-time.After(time.Until(task.LeaseUntil) + afterWait)
		}
		b.work(t, 0)
		if runs++; runs > 100 {
			t.Fatal("the task never ends")
		}
	}
	return runs
}

// file returns the contents of the finished export's first file, after verifying its size and SHA-256.
func (b *bench) file(t *testing.T) []byte {
	t.Helper()
	if b.task().Status != export.Success || len(b.task().Files) == 0 {
		t.Fatalf("no finished file: status %s, objects %v", b.task().Status, b.files.Keys())
	}
	body, ok := b.files.Get(b.task().Files[0].Key)
	if !ok {
		t.Fatalf("no finished file: status %s, objects %v", b.task().Status, b.files.Keys())
	}
	sum := sha256.Sum256(body)
	if told := b.task().Files[0]; told.Bytes != int64(len(body)) || told.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the file has %d bytes and the sum %x, the task tells %+v", len(body), sum, told)
	}
	return body
}

// kept returns the sorted keys of the objects that the finished task names.
func (b *bench) kept() []string {
	keys := append(make([]string, 0, 1+len(b.task().Files)), b.task().Manifest.Key)
	for _, f := range b.task().Files {
		keys = append(keys, f.Key)
	}
	slices.Sort(keys)
	return keys
}

func (b *bench) object(t *testing.T, key string) []byte {
	t.Helper()
	body, ok := b.files.Get(key)
	if !ok {
		t.Fatalf("no object %q", key)
	}
	return body
}

// names returns the "Type/id" names of the resources in a file, in file order.
func names(t *testing.T, file []byte) []string {
	t.Helper()
	var found []string
	for line := range bytes.Lines(file) {
		var head struct {
			ResourceType string
			ID           string
		}
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		found = append(found, head.ResourceType+"/"+head.ID)
	}
	return found
}

// asked returns a task's outcomes except those for types that the server does not support.
func asked(task export.Task) []export.TypeOutcome {
	return slices.DeleteFunc(slices.Clone(task.Outcome),
		func(o export.TypeOutcome) bool { return o.Reason == export.LossUnsupported })
}

func outcomeOf(t *testing.T, task export.Task, resourceType string) export.TypeOutcome {
	t.Helper()
	at := slices.IndexFunc(task.Outcome, func(o export.TypeOutcome) bool { return o.Type == resourceType })
	if at < 0 {
		t.Fatalf("no outcome for %s: %v", resourceType, task.Outcome)
	}
	return task.Outcome[at]
}

func newLinks(t *testing.T, current string) export.Links {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(
		`{"current":"` + current + `","1":"` + strings.Repeat("a", 43) + `","2":"` + strings.Repeat("b", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return export.Links{Keys: ring, BaseURL: "https://api.example/v1"}
}
