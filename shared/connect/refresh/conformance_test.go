package refresh_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/storetest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// TestInMemoryStoreMatchesTokenStore checks that the in-memory store accepts the same writes as DynamoDB and stores the
// same rows.
func TestInMemoryStoreMatchesTokenStore(t *testing.T) {
	t.Parallel()
	moves := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 359), 4, 4), 5, 30)
	vault := tokens.Vault{Sealer: plainSealer{}}
	rapid.Check(t, func(r *rapid.T) {
		rows, now, double := tokensTable(t), start, newMemory()
		first, err := rows.Tokens(t.Context(), tenant, connID)
		expect.NoError(t, err)
		double.rows[connID] = first
		for _, m := range moves.Draw(r, "moves") {
			row := double.rows[connID] // the stored row, possibly altered below
			row.LeaseOwner = pick(m[1], []string{"a", "b"})
			row.Version += pick(m[2], []int64{0, 0, 0, 1})
			row.RefreshStartedAt = pick(m[3], []time.Time{row.RefreshStartedAt, row.RefreshStartedAt, {}, now})
			row.LeaseUntil = now.Add(time.Minute)
			var got, want error
			switch m[0] % 4 {
			case 0:
				got, want = rows.LeaseTokens(t.Context(), row, now), double.LeaseTokens(t.Context(), row, now)
			case 1:
				got, want = rows.ReleaseTokens(t.Context(), row), double.ReleaseTokens(t.Context(), row)
			case 2:
				next, err := vault.Seal(t.Context(), tenant, connID, row.Version+1, setOf("refresh "+strconv.Itoa(m[3])))
				expect.NoError(t, err)
				got, want = rows.RotateTokens(t.Context(), next), double.RotateTokens(t.Context(), next)
			default:
				now = now.Add(time.Duration(m[3]) * time.Second)
			}
			if errors.Is(got, fault.Conflict) != errors.Is(want, fault.Conflict) || (got == nil) != (want == nil) {
				r.Fatalf("the store answers %v, the memory %v", got, want)
			}
			stored, err := rows.Tokens(t.Context(), tenant, connID)
			expect.NoError(t, err)
			if diff := cmp.Diff(double.rows[connID], stored); diff != "" {
				r.Fatalf("the memory has -, the store has +:\n%s", diff)
			}
		}
	})
}

// tokensTable returns a DynamoDB table created for the test. The table contains a single row, stored as the callback
// would store it.
func tokensTable(t *testing.T) store.Tokens {
	t.Helper()
	made := tables.New(t)
	rows := store.Tokens{DB: made.DB, Table: made.Name("TokensTable")}
	row, err := tokens.Vault{Sealer: plainSealer{}}.Seal(t.Context(), tenant, connID, 1, setOf("refresh 1"))
	expect.NoError(t, err)
	attempts := store.NewConclusions(store.Flow{DB: made.DB, Table: made.Name("FlowTable")}, store.Connections{}, rows,
		store.Events{})
	attempt := flow.Attempt{ID: "attempt", Tenant: tenant, ExpiresAt: start}
	expect.NoError(t, attempts.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: "hash", Tenant: tenant, ExpiresAt: start}))
	expect.NoError(t, attempts.ConcludeAttempt(t.Context(), flow.Conclusion{Attempt: attempt, Tokens: row}))
	return rows
}

func TestInMemoryStoreConformsToStoreContract(t *testing.T) {
	t.Parallel()
	storetest.Tokens(t, func(_ testing.TB, row tokens.Row) tokens.Store {
		m := newMemory()
		m.rows[row.ConnectionID] = row
		return m
	})
	storetest.Refreshes(t, func(_ testing.TB, held storetest.Held) storetest.Connections {
		m := newMemory()
		held.Connection.Rev = 1
		m.connections[held.Connection.ID], m.rows[held.Tokens.ConnectionID] = held.Connection, held.Tokens
		m.upstream[held.Connection.ID] = held.Upstream
		return m
	})
	storetest.EndpointState(t, func(testing.TB) refresh.EndpointState { return newEndpointState() })
}

// Event is never called by the worker.
func (m *memory) Event(_ context.Context, of org.Tenant, id string) (webhook.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	event, ok := m.events[id]
	if !ok || event.Tenant != of {
		return webhook.Event{}, fault.Missing("Record not found.")
	}
	return event, nil
}
