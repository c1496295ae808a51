package store_test

import (
	"context"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/infra/testkit/storetest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/collect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func TestWebhooksPassStoreSuite(t *testing.T) {
	t.Parallel()
	open := func(tb testing.TB) storetest.Webhooks {
		tb.Helper()
		s := newStores(tb)
		return store.NewWebhooks(s.work, s.control)
	}
	storetest.Deliveries(t, open)
	storetest.Health(t, open)
}

func TestTasksPassStoreSuite(t *testing.T) {
	t.Parallel()
	open := func(tb testing.TB, of org.Tenant, connectionID string) storetest.Tasks {
		tb.Helper()
		s := newStores(tb)
		c := connectionOf(of)
		c.ID = connectionID
		s.conclude(tb, flow.Conclusion{Attempt: attemptOf(of), Connection: c})
		return struct {
			store.Register
			store.Places
		}{s.register, s.places}
	}
	storetest.Registration(t, open)
	storetest.Work(t, open)
	storetest.Shares(t, open)
}

func TestTokensPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Tokens(t, func(tb testing.TB, row tokens.Row) tokens.Store {
		tb.Helper()
		s := newStores(tb)
		s.conclude(tb, flow.Conclusion{Attempt: attemptOf(row.Tenant), Tokens: row})
		return s.tokens
	})
}

type refreshes struct {
	store.Refresh
	tokens.Store

	events store.Events
}

func (r refreshes) Event(ctx context.Context, tenant org.Tenant, id string) (webhook.Event, error) {
	return r.events.Event(ctx, tenant, id)
}

func TestRefreshesPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Refreshes(t, func(tb testing.TB, held storetest.Held) storetest.Connections {
		tb.Helper()
		s := newStores(tb)
		s.conclude(tb, flow.Conclusion{
			Attempt: attemptOf(held.Tokens.Tenant), Connection: held.Connection,
			Tokens: held.Tokens,
		})
		s.upstream(tb, held.Tokens.Tenant, string(held.Upstream))
		return refreshes{Refresh: s.refresh, Store: s.tokens, events: s.events}
	})
}

func TestEndpointStatePassesStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.EndpointState(t, func(tb testing.TB) refresh.EndpointState {
		tb.Helper()
		return newStores(tb).endpoints
	})
}

func TestKnownServersPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Known(t, func(tb testing.TB) collect.Known {
		tb.Helper()
		return newStores(tb).endpoints
	})
}

func TestLedgerPassesStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Ledgers(t, func(tb testing.TB) storetest.Ledger {
		tb.Helper()
		s := newStores(tb)
		return store.Catalog{DB: s.db, Table: s.names["CatalogTable"]}
	})
}

func TestSourcesPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.SourceRows(t, func(tb testing.TB) storetest.Sources {
		tb.Helper()
		s := newStores(tb)
		return store.Catalog{DB: s.db, Table: s.names["CatalogTable"]}
	})
}

func TestCatalogHealthPassesStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.EndpointHealths(t, func(tb testing.TB) storetest.EndpointHealth {
		tb.Helper()
		s := newStores(tb)
		return store.CatalogHealth{DB: s.db, Table: s.names["CatalogTable"]}
	})
}

func (s stores) conclude(tb testing.TB, c flow.Conclusion) {
	tb.Helper()
	expect.NoError(tb, s.flow.BeginAttempt(tb.Context(), c.Attempt, stateOf(c.Attempt.Tenant)))
	expect.NoError(tb, s.flow.ConcludeAttempt(tb.Context(), c))
}

func TestAccountsPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.AccountRows(t, func(tb testing.TB) storetest.Accounts {
		tb.Helper()
		s := newStores(tb)
		return store.Accounts{DB: s.db, Table: s.names["ControlTable"]}
	})
}

func TestSessionsPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.SessionRows(t, func(tb testing.TB) storetest.Sessions {
		tb.Helper()
		return newStores(tb).flow
	})
}

// TestMemoryModelsPassStoreSuite checks that package memory's models, which the volume tests use, behave like the
// tables.
func TestMemoryModelsPassStoreSuite(t *testing.T) {
	t.Parallel()
	storetest.Files(t, func(testing.TB) export.Files { return &memory.Files{} })
	open := func(_ testing.TB, of org.Tenant, connectionID string) storetest.Tasks {
		m := memory.NewTasks()
		m.Authorize(of, connectionID, true)
		return m
	}
	storetest.Registration(t, open)
	storetest.Work(t, open)
	storetest.Shares(t, open)
	storetest.EndpointHealths(t, func(testing.TB) storetest.EndpointHealth { return &memory.EndpointHealth{} })
}
