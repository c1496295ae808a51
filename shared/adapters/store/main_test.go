package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	orgA    = "0a000000-0000-4000-8000-00000000000a"
	orgB    = "0b000000-0000-4000-8000-00000000000b"
	connID  = "c0000000-0000-4000-8000-000000000001"
	taskID  = "7a000000000040008000000000000001"
	eventID = "e0000000-0000-4000-8000-000000000001"
	delivID = "d0000000-0000-4000-8000-000000000001"
)

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: orgA}
	// now is in microseconds, the precision of stored times.
	now = time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)
)

// stores contains every store, backed by the test's embedded AWS with the tables declared in template.yaml.
type stores struct {
	db            *dynamodb.Client
	writes        *writes
	names         map[string]string // table names by logical ID
	control       store.Control
	organisations store.Organisations
	callers       store.Callers
	hooks         store.Hooks
	portals       store.Portals
	clients       store.Clients
	audit         store.Audit
	conns         store.Connections
	tokens        store.Tokens
	flow          store.Conclusions
	work          store.Work
	register      store.Register
	tasks         store.Tasks
	events        store.Events
	deliveries    store.Deliveries
	notices       store.Notices
	inquiries     store.Inquiries
	places        store.Places
	days          store.UsageDays
	requests      store.ErasureRequests
	deletions     store.DeletionRequests
	timers        store.Timers
	sandbox       store.Sandbox
	refresh       store.Refresh
	endpoints     store.EndpointState
}

func newStores(tb testing.TB) stores {
	tb.Helper()
	changes := &writes{}
	made := tables.New(tb, changes.middleware)
	s := over(made.DB, made.Names())
	s.db, s.writes = made.DB, changes
	return s
}

func over(db store.DB, names map[string]string) stores {
	s := stores{
		names:     names,
		control:   store.Control{DB: db, Table: names["ControlTable"]},
		audit:     store.Audit{DB: db, Table: names["AuditTable"]},
		conns:     store.Connections{DB: db, Table: names["ConnectionTable"]},
		tokens:    store.Tokens{DB: db, Table: names["TokensTable"]},
		timers:    store.Timers{DB: db, Table: names["WorkTable"]},
		sandbox:   store.Sandbox{DB: db, Table: names["SandboxTable"]},
		endpoints: store.EndpointState{DB: db, Table: names["FlowTable"]},
	}
	s.organisations, s.callers, s.hooks = store.Organisations(s.control), store.Callers(s.control), store.Hooks(s.control)
	s.portals, s.clients = store.Portals(s.control), store.Clients(s.control)
	s.work = store.Work{DB: db, Table: names["WorkTable"]}
	s.register, s.tasks, s.events = store.NewRegister(s.work, s.conns), store.Tasks(s.work), store.Events(s.work)
	s.deliveries, s.notices, s.inquiries = store.Deliveries(s.work), store.Notices(s.work), store.Inquiries(s.work)
	s.places, s.days = store.Places(s.work), store.UsageDays(s.work)
	s.requests, s.deletions = store.ErasureRequests(s.work), store.DeletionRequests(s.work)
	s.flow = store.NewConclusions(store.Flow{DB: db, Table: names["FlowTable"]}, s.conns, s.tokens, s.events)
	s.refresh = store.NewRefresh(s.conns, s.tokens, s.events)
	return s
}

// connect stores an authorized connection and its tokens as the callback would.
func (s stores) connect(t *testing.T, of org.Tenant) {
	t.Helper()
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(of), stateOf(of)))
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), conclusionOf(of)))
}

func (s stores) open(t *testing.T, of org.Tenant) export.Task {
	t.Helper()
	s.connect(t, of)
	task := pendingTask(of)
	expect.NoError(t, s.register.OpenTask(t.Context(), task, ""))
	return task
}

func (s stores) claim(t *testing.T) export.Task {
	t.Helper()
	s.open(t, tenant)
	task, err := s.tasks.ClaimTask(t.Context(), tenant, taskID, now, now.Add(time.Minute))
	expect.NoError(t, err)
	return task
}

func pendingTask(of org.Tenant) export.Task {
	return export.Task{ID: taskID, Tenant: of, ConnectionID: connID, Status: export.Pending, CreatedAt: now}
}

func connectionOf(of org.Tenant) connection.Connection {
	c := connection.Connection{
		ID: connID, Tenant: of, Status: connection.Authorized, BrandID: "brand", PortalID: "portal", EndpointID: "endpoint",
		PlatformType: "sandbox", DirectoryID: "urn:oid:2.999.1.7", Scope: "patient/*.read",
		ConsentExpiresAt: now.Add(time.Hour), Generation: 1, CreatedAt: now,
		Refresh: connection.RefreshState{
			RefreshAt: now.Add(time.Minute), Unrenewable: true, Failures: 2, RefusedAt: now.Add(-time.Minute), RefusedVersion: 7,
			ConsentFixed: true, Warned: true,
			FailureClass: "server_fault", RenewedAt: now.Add(-time.Hour), EndedAt: now.Add(-time.Minute),
			Ended: "invalid_grant", UpstreamUntil: now.Add(time.Hour),
		},
	}
	c.Patient.Version, c.Patient.Sum = 3, []byte("keyed hash")
	c.ExternalID = "patient-7"
	c.External.Version, c.External.Sum = 2, []byte("another hash")
	return c
}

func tokensOf(of org.Tenant) tokens.Row {
	return tokens.Row{Tenant: of, ConnectionID: connID, Sealed: []byte("sealed one"), Version: 1}
}

func eventOf(of org.Tenant, id string) webhook.Event {
	return webhook.Event{ID: id, Tenant: of, Type: webhook.TestEvent, Body: []byte(`{"hello":"world"}`), CreatedAt: now}
}

func deliveryOf(of org.Tenant) webhook.Delivery {
	return webhook.Delivery{
		ID: delivID, Tenant: of, EventID: eventID, SubscriptionID: "s0000000-0000-4000-8000-000000000001",
		Status: webhook.InFlight, Attempt: 1, Fence: 1, Trigger: webhook.ByClock,
		NextAt: now, LeaseUntil: now.Add(time.Minute), DueAt: now.Add(time.Minute), CreatedAt: now,
	}
}

// fanOut stores an event and its only delivery, which is claimed for one minute.
func (s stores) fanOut(t *testing.T, of org.Tenant) webhook.Delivery {
	t.Helper()
	event, delivery := eventOf(of, eventID), deliveryOf(of)
	expect.NoError(t, s.events.CreateEvent(t.Context(), event))
	expect.NoError(t, s.events.FanOut(t.Context(), event, []webhook.Delivery{delivery}))
	return delivery
}

func taskNumber(i int) string { return fmt.Sprintf("7a0000000000400080000000%08d", i) }
