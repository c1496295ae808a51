package attempt_test

import (
	"context"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/org"
)

// erase deletes a connection in the same way as the eraser does at the organisation's request.
func (w *world) erase(t *testing.T, id string) {
	t.Helper()
	c := w.connection(t, id)
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: w.time()}
	expect.NoError(t, w.save(t, c))
	erasures := store.NewErasures(w.conns, w.rows.Work, w.tokens, nil) // nil, because no method called here lists rows
	expect.NoError(t, erasures.RemoveConnection(t.Context(), tenant, id, w.time()))
}

// TestConcludeDoesNotRestoreErasedConnection covers an erasure before the worker runs and an erasure while the worker
// stores the record.
func TestConcludeDoesNotRestoreErasedConnection(t *testing.T) {
	t.Parallel()
	for name, isLate := range map[string]bool{"before": false, "while": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.located(t, attemptID, "x", "a")
			w.choose(t, attemptID, "a")
			w.look(t, attemptID)
			id := w.facilities(t, attemptID)["a"].Connected.ConnectionID
			const next, last = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43"
			w.located(t, next, "x", "a")
			w.choose(t, next, "a")
			w.pass(time.Second)
			if isLate {
				w.worker.Cache = &meanwhile{Cache: w, act: func() { w.erase(t, id) }}
			} else {
				w.erase(t, id)
			}
			told := len(w.told)
			w.look(t, next)
			if f := w.facilities(t, next)["a"]; f.Outcome != attempt.HasFailed || f.Reason != attempt.ReasonRefused ||
				f.Connected.ConnectionID != "" || len(w.told) != told {
				t.Errorf("it is %+v", f)
			}
			w.pass(time.Second)
			w.located(t, last, "x", "a") // a later sign-in represents a new decision by the person
			w.choose(t, last, "a")
			w.look(t, last)
			if f := w.facilities(t, last)["a"]; f.Outcome != attempt.IsConnected || f.Connected.ConnectionID == id {
				t.Errorf("afterwards it is %+v", f)
			}
		})
	}
}

// meanwhile is a Cache that calls a function once, before the first write.
type meanwhile struct {
	attempt.Cache

	act func()
}

func (m *meanwhile) Write(ctx context.Context, of org.Tenant, id string,
	content records.Content,
) (tokens.Records, error) {
	if act := m.act; act != nil {
		m.act = nil
		act()
	}
	return m.Cache.Write(ctx, of, id, content)
}
