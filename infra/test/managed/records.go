package managed

import (
	"testing"
	"time"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Connect creates an hour-old connection for tenant, applies change to it and stores the result.
func (s *Stack) Connect(tb testing.TB, tenant org.Tenant, change func(*connection.Connection)) connection.Connection {
	tb.Helper()
	made := keyedtest.Moment().Add(-time.Hour)
	c := connection.Connection{
		ID: ids.Random(), Tenant: tenant, Status: connection.Authorized, EndpointID: "here", PlatformType: "smart",
		Generation: 1, CreatedAt: made,
	}
	change(&c)
	db := store.NewClient(s.AWS)
	rows := store.NewConclusions(
		store.Flow{DB: db, Table: stackName + "-FlowTable"}, s.connections(),
		store.Tokens{DB: db, Table: stackName + "-TokensTable"}, store.Events(s.work()))
	attempt := flow.Attempt{
		ID: ids.Random(), Tenant: tenant, Status: flow.Open, CreatedAt: made,
		ExpiresAt:   made.Add(time.Hour),
		Institution: flow.Institution{EndpointID: "here"},
	}
	if err := rows.BeginAttempt(tb.Context(), attempt,
		binding.State{Hash: attempt.ID, Tenant: tenant, AttemptID: attempt.ID, ExpiresAt: made.Add(time.Hour)}); err != nil {
		tb.Fatal(err)
	}
	held := tokens.Row{Tenant: tenant, ConnectionID: c.ID, Sealed: []byte("sealed"), Version: 1}
	if err := rows.ConcludeAttempt(tb.Context(),
		flow.Conclusion{Attempt: attempt, Connection: c, Tokens: held}); err != nil {
		tb.Fatal(err)
	}
	return c
}

// FailedExport stores a failed export and returns its task ID. FailedExport requires that the connection has no other
// exports.
func (s *Stack) FailedExport(tb testing.TB, c connection.Connection, reason export.Reason) string {
	tb.Helper()
	made := keyedtest.Moment().Add(-time.Minute)
	rows := store.NewRegister(s.work(), s.connections())
	task := export.Task{
		ID: ids.TaskID(ids.Random()), Tenant: c.Tenant, ConnectionID: c.ID, Status: export.Pending,
		CreatedAt: made,
	}
	if err := rows.OpenTask(tb.Context(), task, ""); err != nil {
		tb.Fatal(err)
	}
	claimed, err := rows.ClaimTask(tb.Context(), c.Tenant, task.ID, made, made.Add(time.Minute))
	if err != nil {
		tb.Fatal(err)
	}
	failed, event, err := claimed.Fail(reason, keyedtest.Moment())
	if err != nil {
		tb.Fatal(err)
	}
	if err := rows.FinishTask(tb.Context(), failed, event); err != nil {
		tb.Fatal(err)
	}
	return task.ID
}

func (s *Stack) connections() store.Connections {
	return store.Connections{DB: store.NewClient(s.AWS), Table: stackName + "-ConnectionTable"}
}

func (s *Stack) work() store.Work {
	return store.Work{DB: store.NewClient(s.AWS), Table: stackName + "-WorkTable"}
}
