package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/smart"
	"recordbridge/shared/tokens"
	"recordbridge/shared/webhook"
)

const (
	taskID       = "0123456789abcdef0123456789abcdef"
	connectionID = "c0000000-0000-4000-8000-000000000001"
	wideScope    = "openid launch/patient patient/*.read"
	lease        = time.Minute
)

var (
	tenant     = org.Tenant{Mode: org.Test, OrgID: "a0000000-0000-4000-8000-000000000001"}
	errTrouble = errors.New("trouble on our side")
)

// files keeps objects in memory; an object exists once it is closed.
type files struct {
	mu      sync.Mutex
	objects map[string][]byte
	refuse  string       // part of the keys that cannot be closed
	closed  func(string) // is told every key that was closed
}

type upload struct {
	files *files
	key   string
	body  bytes.Buffer
	mark  int
}

func (f *files) Create(_ context.Context, key, _ string) (export.Writer, error) {
	return &upload{files: f, key: key}, nil
}

func (f *files) Open(_ context.Context, key string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.objects[key]
	if !ok {
		return nil, fault.Missing("no object")
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func (f *files) Compose(ctx context.Context, key, _ string, parts []string) error {
	whole := &upload{files: f, key: key}
	for _, part := range parts {
		body, err := f.Open(ctx, part)
		if err != nil {
			return err
		}
		if _, err := io.Copy(&whole.body, body); err != nil {
			return err
		}
	}
	return whole.Close(ctx)
}

func (f *files) Delete(ctx context.Context, key string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, key)
	return nil
}

func (f *files) keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects))
}

func (u *upload) Write(p []byte) (int, error) { return u.body.Write(p) }

func (u *upload) Mark() { u.mark = u.body.Len() }

func (u *upload) Rewind(context.Context) error {
	u.body.Truncate(u.mark)
	return nil
}

func (u *upload) Close(ctx context.Context) error {
	if ctx.Err() != nil || (u.files.refuse != "" && strings.Contains(u.key, u.files.refuse)) {
		return errTrouble
	}
	u.files.mu.Lock()
	defer u.files.mu.Unlock()
	u.files.objects[u.key] = u.body.Bytes()
	if u.files.closed != nil {
		u.files.closed(u.key)
	}
	return nil
}

func (u *upload) Abort(context.Context) {}

// workStore keeps one task.
type workStore struct {
	mu         sync.Mutex
	task       export.Task
	events     []webhook.Event
	lookAt     time.Time     // when the sweeper would act
	saves      int           // ContinueTask
	crashAfter int           // of them, the next fails; 0 for never
	extends    int           // renewals of the lease
	finish     func() error  // instead of FinishTask, when set
	answer     time.Duration // how long FinishTask takes to say that it has finished the task
}

func (s *workStore) ClaimTask(_ context.Context, owner org.Tenant, id string, now, leaseUntil time.Time) (export.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner != tenant || id != taskID || s.task.Status != export.Pending || !s.task.LeaseUntil.Before(now) {
		return export.Task{}, fault.Stale()
	}
	s.task.Generation++
	s.task.LeaseUntil = leaseUntil
	return s.task, nil
}

func (s *workStore) ExtendTask(_ context.Context, task export.Task, leaseUntil time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign(task) {
		return fault.Stale()
	}
	s.extends++
	s.task.LeaseUntil, s.task.Progress = leaseUntil, task.Progress
	return nil
}

func (s *workStore) ReportTask(ctx context.Context, task export.Task, leaseUntil time.Time, event webhook.Event) error {
	if err := s.ExtendTask(ctx, task, leaseUntil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task.ProgressAt, s.task.ProgressSent = task.ProgressAt, task.ProgressSent
	s.events = append(s.events, event)
	return nil
}

func (s *workStore) ContinueTask(_ context.Context, task export.Task, leaseUntil time.Time) (export.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign(task) {
		return export.Task{}, fault.Stale()
	}
	if s.saves++; s.crashAfter > 0 && s.saves > s.crashAfter {
		return export.Task{}, errTrouble
	}
	s.keep(task)
	s.task.LeaseUntil, s.task.Setbacks = leaseUntil, 0
	s.task.Generation++
	return s.task, nil
}

func (s *workStore) YieldTask(ctx context.Context, task export.Task, dueAt time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.foreign(task) {
		return fault.Stale()
	}
	s.keep(task)
	s.lookAt, s.task.LeaseUntil = dueAt, time.Time{}
	return nil
}

func (s *workStore) FinishTask(ctx context.Context, task export.Task, event webhook.Event) error {
	defer func() { <-time.After(s.answer) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finish != nil {
		return s.finish()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.foreign(task) {
		return fault.Stale()
	}
	s.task = task
	s.events = append(s.events, event)
	return nil
}

// keep stores what a worker changes of its task.
func (s *workStore) keep(task export.Task) {
	s.task.Checkpoint, s.task.Setbacks, s.task.Progress = task.Checkpoint, task.Setbacks, task.Progress
}

func (s *workStore) foreign(task export.Task) bool {
	return s.task.Generation != task.Generation || s.task.Status != export.Pending
}

// takeOver is another worker's claim.
func (s *workStore) takeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task.Generation++
}

// desk hands tokens out.
type desk struct {
	set     tokens.Set
	current error // of Current
	renew   error // of Renew
	hang    bool  // Current answers only when its caller gives up
	renewed int
	manners plan.Manners
	due     error    // of RefreshDue
	dues    []string // the connections whose tokens were made due
}

func (d *desk) RefreshDue(_ context.Context, _ org.Tenant, id string, _ time.Time) error {
	d.dues = append(d.dues, id)
	return d.due
}

func (d *desk) Of(context.Context, org.Tenant, string) (plan.Manners, error) { return d.manners, nil }

func (d *desk) Current(ctx context.Context, _ org.Tenant, _ string) (tokens.Usable, error) {
	if d.hang {
		<-ctx.Done()
		return tokens.Usable{}, ctx.Err()
	}
	return tokens.Usable{Set: d.set, Version: 1}, d.current
}

func (d *desk) Renew(_ context.Context, _ org.Tenant, _ string, used int64) (tokens.Usable, error) {
	d.renewed++
	if d.renew != nil {
		return tokens.Usable{}, d.renew
	}
	d.set.AccessToken = secret.New("renewed")
	return tokens.Usable{Set: d.set, Version: used + 1}, nil
}

// nudges remembers what was nudged.
type nudges struct {
	mu     sync.Mutex
	tasks  []time.Duration // delays
	events []string
}

func (n *nudges) NudgeTask(_ context.Context, _ org.Tenant, _ string, delay time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tasks = append(n.tasks, delay)
	return errTrouble // a lost nudge changes nothing
}

func (n *nudges) NudgeEvent(_ context.Context, _ org.Tenant, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, id)
	return errTrouble
}

// bench is a worker with everything around it. It is made inside a synctest bubble: the clock is the bubble's.
type bench struct {
	hospital *hospital
	store    *workStore
	files    *files
	desk     *desk
	nudges   *nudges
	worker   export.Worker
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		hospital: newHospital(t),
		store: &workStore{task: export.Task{
			ID: taskID, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending, CreatedAt: time.Now(),
		}},
		files: &files{objects: map[string][]byte{}},
		desk: &desk{set: tokens.Set{
			AccessToken: secret.New("first"), PatientID: secret.New(patientID), Scope: wideScope, FHIRBase: base,
		}},
		nudges: &nudges{},
	}
	b.worker = export.Worker{
		Store: b.store, Tokens: b.desk, Care: b.desk, Manners: b.desk, Portals: smart.NewPortal(b.hospital, nil, nil, time.Now), Files: b.files,
		Nudger: b.nudges, Links: newLinks(t, "1"), Now: time.Now, Lease: lease, Retention: 8 * 24 * time.Hour,
	}
	return b
}

// work lets the worker run once; runFor is the time until its deadline, zero for none.
func (b *bench) work(t *testing.T, runFor time.Duration) {
	t.Helper()
	var deadline time.Time
	if runFor > 0 {
		deadline = time.Now().Add(runFor)
	}
	if err := b.worker.Work(t.Context(), tenant, taskID, deadline); err != nil {
		t.Fatalf("Work: %v", err)
	}
}

// finish lets the worker run until the task has ended, waiting for its nudges as the queue does.
func (b *bench) finish(t *testing.T) (runs int) {
	t.Helper()
	for b.store.task.Status == export.Pending {
		if len(b.nudges.tasks) > 0 {
			<-time.After(b.nudges.tasks[len(b.nudges.tasks)-1])
		}
		b.work(t, 0)
		if runs++; runs > 100 {
			t.Fatal("the task never ends")
		}
	}
	return runs
}

// file returns the finished export.
func (b *bench) file(t *testing.T) []byte {
	t.Helper()
	if b.store.task.Status != export.Success || len(b.store.task.Files) == 0 {
		t.Fatalf("no finished file: status %s, objects %v", b.store.task.Status, b.files.keys())
	}
	body, ok := b.files.objects[b.store.task.Files[0].Key]
	if !ok {
		t.Fatalf("no finished file: status %s, objects %v", b.store.task.Status, b.files.keys())
	}
	return body
}

// names lists the resources of a file, in order.
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

// asked are the outcomes of a task but for the types that the server does not offer.
func asked(task export.Task) []export.TypeOutcome {
	return slices.DeleteFunc(slices.Clone(task.Outcome), func(o export.TypeOutcome) bool { return o.Reason == export.LossUnsupported })
}

// outcomeOf finds the outcome of a type.
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
