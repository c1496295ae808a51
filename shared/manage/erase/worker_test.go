package erase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	connID = "c0000000-0000-4000-8000-000000000001"
	taskID = "7a000000000040008000000000000001"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	noon   = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)

// fixture holds a portal, a connection in tables, and its exports' objects. Tests advance its clock.
type fixture struct {
	worker  erase.Worker
	ask     erase.Requests
	store   store.Erasures
	refresh store.Refresh
	log     audit.Log
	at      time.Time
	objects bucket // objects created by exports
	cached  bucket
	saved   int
	asked   int
	silent  bool // whether the portal fails to respond
	trouble error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	made := tables.New(t)
	connections, work := store.Connections{DB: made.DB, Table: made.Name("ConnectionTable")},
		store.Work{DB: made.DB, Table: made.Name("WorkTable")}
	sets := store.Tokens{DB: made.DB, Table: made.Name("TokensTable")}
	f := &fixture{
		store:   store.NewErasures(connections, work, sets, made.DB),
		refresh: store.NewRefresh(connections, sets, store.Events(work)),
		at:      noon, objects: bucket{}, cached: bucket{},
		log: audit.Log{Rows: store.Audit{DB: made.DB, Table: made.Name("AuditTable")}},
	}
	f.ask = erase.Requests{Rows: store.ErasureRequests(work), Connections: connections, Now: f.now}
	f.worker = erase.Worker{Store: f.store, Files: f.objects, Records: f.cached, Disconnector: f, Audit: f.log, Now: f.now}
	flows := store.NewConclusions(
		store.Flow{DB: made.DB, Table: made.Name("FlowTable")}, connections, sets, store.Events(work))
	attempt := flow.Attempt{
		ID: "a0000000-0000-4000-8000-000000000001", Tenant: tenant, Status: flow.Open, CreatedAt: noon,
		ExpiresAt: noon.Add(time.Hour),
	}
	expect.NoError(t, flows.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: "h", Tenant: tenant, AttemptID: attempt.ID, ExpiresAt: noon.Add(time.Hour)}))
	expect.NoError(t, flows.ConcludeAttempt(t.Context(), flow.Conclusion{
		Attempt: attempt,
		Connection: connection.Connection{
			ID: connID, Tenant: tenant, Status: connection.Authorized, Generation: 1,
			CreatedAt: noon,
		},
		Tokens: tokens.Row{Tenant: tenant, ConnectionID: connID, Sealed: []byte("sealed"), Version: 1},
	}))
	return f
}

func (f *fixture) Disconnect(ctx context.Context, of org.Tenant, id string) (connection.Connection, error) {
	if f.trouble != nil {
		return connection.Connection{}, f.trouble
	}
	c, err := f.store.Connection(ctx, of, id)
	if err != nil {
		return c, err
	}
	f.asked++
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: f.at}
	if f.silent {
		c.Refresh.RefreshAt, c.Refresh.UpstreamUntil = f.at, noon.Add(24*time.Hour)
	}
	return c, f.save(ctx, c)
}

type bucket map[string]bool

func (b bucket) List(_ context.Context, prefix string) ([]string, error) {
	var keys []string
	for key := range b {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (b bucket) Delete(_ context.Context, key string) error {
	delete(b, key)
	return nil
}

func (f *fixture) now() time.Time { return f.at }

func (f *fixture) save(ctx context.Context, c connection.Connection) error {
	f.saved++
	return f.refresh.SaveConnection(ctx, c, webhook.Event{
		ID:     fmt.Sprintf("e0000000-0000-4000-8000-%012d", f.saved),
		Tenant: tenant, Type: webhook.TestEvent, CreatedAt: f.at,
	})
}

func (f *fixture) request(t *testing.T) {
	t.Helper()
	_, isNew, err := f.ask.Request(t.Context(), tenant, strings.ToUpper(connID), "member:m")
	expect.NoError(t, err)
	if !isNew {
		t.Error("somebody had asked before")
	}
}

// pass advances the clock, runs the worker once, and returns the erasure.
func (f *fixture) pass(t *testing.T, d time.Duration) erase.Erasure {
	t.Helper()
	f.at = f.at.Add(d)
	expect.NoError(t, f.worker.Run(t.Context()))
	e, err := f.ask.Show(t.Context(), tenant, connID)
	expect.NoError(t, err)
	return e
}

// tell stores the nth event about the connection.
func (f *fixture) tell(t *testing.T, n int) {
	t.Helper()
	event, err := webhook.NewEvent(tenant, webhook.AuthorizationEnding, connID, int64(n), f.at,
		webhook.AuthorizationExpiring{OrgConnectionID: connID})
	expect.NoError(t, err)
	expect.NoError(t, f.store.CreateEvent(t.Context(), event))
	expect.NoError(t, f.store.FanOut(t.Context(), event, []webhook.Delivery{{
		ID: fmt.Sprintf("d0000000-0000-4000-8000-%012d", n), Tenant: tenant, EventID: event.ID, SubscriptionID: "s",
		Status: webhook.Scheduled, CreatedAt: f.at,
	}}))
}

func (f *fixture) wantDone(t *testing.T, e erase.Erasure, portal erase.Portal, want erase.Counts) {
	t.Helper()
	if diff := cmp.Diff(want, e.Counts); diff != "" || e.Stage != erase.Done || e.Portal != portal {
		t.Errorf("stage %s, portal %s, counts (-want +got):\n%s", e.Stage, e.Portal, diff)
	}
	if _, err := f.store.Connection(t.Context(), tenant, connID); !errors.Is(err, fault.NotFound) {
		t.Errorf("the connection: %v", err)
	}
	if len(f.objects)+len(f.cached) != 0 {
		t.Errorf("objects %v, cached %v are left", f.objects, f.cached)
	}
	rows, _, err := f.log.List(t.Context(), tenant.OrgID, 0, 10)
	expect.NoError(t, err)
	if len(rows) != 1 {
		t.Errorf("proven %d times", len(rows))
	}
}

func TestErasureRunsStagesInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, 1)
	f.request(t)
	_, isNew, err := f.ask.Request(t.Context(), tenant, connID, "another")
	if err != nil || isNew {
		t.Errorf("asked twice: new %t, %v", isNew, err)
	}
	waits := []time.Duration{0, 10 * time.Second, 10 * time.Second, 19 * time.Minute, time.Minute, time.Hour}
	stages := make([]erase.Stage, 0, len(waits))
	for _, d := range waits {
		stages = append(stages, f.pass(t, d).Stage)
	}
	if diff := cmp.Diff([]erase.Stage{erase.Events, erase.Events, erase.Looking, erase.Looking, erase.Done, erase.Done},
		stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	f.wantDone(t, f.pass(t, 0), erase.NothingToRevoke, erase.Counts{Connections: 1, Tokens: 1, Events: 1, Deliveries: 1})
}

func TestErasureWaitsUpToOneHourForPortal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.silent = true
	f.request(t)
	for _, d := range []time.Duration{0, 30 * time.Minute, 29 * time.Minute} {
		if e := f.pass(t, d); e.Stage != erase.Ending {
			t.Errorf("after %v: stage %s, want that it waits", f.at.Sub(noon), e.Stage)
		}
	}
	f.pass(t, time.Minute)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.Unanswered, erase.Counts{Connections: 1, Tokens: 1})
}

// TestErasureRedactsEventsBeyondRowCapacity checks that the worker uses several passes to clear more events than the
// erasure's row can hold.
func TestErasureRedactsEventsBeyondRowCapacity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := range 1110 {
		f.tell(t, n)
	}
	f.request(t)
	f.pass(t, 0)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.NothingToRevoke,
		erase.Counts{Connections: 1, Tokens: 1, Events: 1110, Deliveries: 1110})
}

// inquire stores a patient's inquiry with a reply.
func (f *fixture) inquire(t *testing.T, n int, of org.Tenant, i inquiry.Inquiry) string {
	t.Helper()
	i.ID, i.Tenant, i.Type = fmt.Sprintf("e1000000-0000-4000-8000-%012d", n), of, webhook.SupportRequested
	event, err := webhook.NewEvent(of, i.Type, i.ID, 0, i.CreatedAt, map[string]string{})
	expect.NoError(t, err)
	expect.NoError(t, f.store.CreateInquiry(t.Context(), i, event))
	expect.NoError(t, f.store.SaveInquiry(t.Context(), i))
	return i.ID
}

// TestErasureRemovesInquiriesNamingConnection checks that an inquiry is removed if its text or a reply contains the
// connection's ID, regardless of letter case.
func TestErasureRemovesInquiriesNamingConnection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	later := noon.Add(time.Second)
	gone := []string{
		f.inquire(t, 1, tenant, inquiry.Inquiry{CreatedAt: later, Body: "It is " + strings.ToUpper(connID) + "."}),
		f.inquire(t, 2, tenant, inquiry.Inquiry{CreatedAt: later, Answers: []inquiry.Answer{{Text: "See " + connID}}}),
	}
	for n := range 120 { // more inquiries than one page can hold
		f.inquire(t, 100+n, tenant, inquiry.Inquiry{CreatedAt: later.Add(time.Duration(n) * time.Millisecond), Body: "Help."})
	}
	other := org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}
	kept := map[string]org.Tenant{
		f.inquire(t, 3, tenant, inquiry.Inquiry{CreatedAt: later, Body: "c0000000-0000-4000-8000-000000000002"}): tenant,
		// inquiry older than the connection
		f.inquire(t, 4, tenant, inquiry.Inquiry{CreatedAt: noon.Add(-time.Second), Body: connID}): tenant,
		f.inquire(t, 5, other, inquiry.Inquiry{CreatedAt: later, Body: connID}):                   other,
	}
	f.at = noon.Add(time.Minute)
	f.request(t)
	f.pass(t, 0)
	f.pass(t, time.Minute)
	late := f.inquire(t, 6, tenant, inquiry.Inquiry{CreatedAt: f.at, Body: connID})
	f.pass(t, 21*time.Minute)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.NothingToRevoke, erase.Counts{Connections: 1, Tokens: 1, Inquiries: 3})
	for _, id := range append(gone, late) {
		_, err := f.store.Inquiry(t.Context(), tenant, id)
		expect.NotFound(t, id, err)
	}
	for id, of := range kept {
		if _, err := f.store.Inquiry(t.Context(), of, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestWorkerReturnsErrorsAndCanBeRetried(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.request(t)
	f.trouble = errors.New("trouble on our side")
	if err := f.worker.Run(t.Context()); !errors.Is(err, f.trouble) {
		t.Errorf("%v, want the trouble", err)
	}
	f.trouble = nil
	f.pass(t, 7*time.Minute)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.NothingToRevoke, erase.Counts{Connections: 1, Tokens: 1})
}

func TestRequestRejectsConnectionOfAnotherTenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, c := range map[string]struct {
		of org.Tenant
		id string
	}{
		"the other mode":       {org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, connID},
		"another organisation": {org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}, connID},
		"an unknown one":       {tenant, "c0000000-0000-4000-8000-0000000000ff"},
		"no id":                {tenant, "x"},
	} {
		_, _, err := f.ask.Request(t.Context(), c.of, c.id, "x")
		expect.NotFound(t, name, err)
		_, err = f.ask.Show(t.Context(), c.of, c.id)
		expect.NotFound(t, name+", shown", err)
	}
}

func exportOf(id string) export.Task {
	return export.Task{ID: id, Tenant: tenant, ConnectionID: connID, Status: export.Pending, CreatedAt: noon}
}
