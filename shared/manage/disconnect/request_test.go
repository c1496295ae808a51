package disconnect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const actor = "member:ac000000-0000-4000-8000-000000000001"

// enqueued records the queued connections but fails to send any message.
type enqueued struct{ told []string }

func (n *enqueued) EnqueueConnection(_ context.Context, _ org.Tenant, id string) error {
	n.told = append(n.told, id)
	return errTrouble
}

func (w *world) chain() audit.Log {
	return audit.Log{Rows: store.Audit{DB: w.tables.DB, Table: w.tables.Name("AuditTable")}}
}

func (w *world) requester(n *enqueued) disconnect.Requester {
	return disconnect.Requester{
		Store: store.Requests{
			Connections: w.store.Connections, Tasks: w.store.Tasks,
			Chains: store.Audit{DB: w.tables.DB, Table: w.tables.Name("AuditTable")},
		},
		Audit: w.chain(), Enqueuer: w, Worker: n, NewID: ids.Random, Now: func() time.Time { return asked },
	}
}

func (w *world) request(t *testing.T) {
	t.Helper()
	n := &enqueued{}
	c, err := w.requester(n).Disconnect(t.Context(), tenant, connID, actor)
	expect.NoError(t, err)
	if c.Status != connection.Revoked || len(n.told) != 1 {
		t.Errorf("answered %s, told the worker of %v", c.Status, n.told)
	}
}

// audited returns the actor, action and target of each of the organisation's audit rows.
func (w *world) audited(t *testing.T) []string {
	t.Helper()
	rows, _, err := w.chain().List(t.Context(), tenant.OrgID, 0, 100)
	expect.NoError(t, err)
	all := make([]string, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.Actor+" "+r.Action+" "+r.Target)
	}
	return all
}

func TestRequesterDisconnectsWithoutAccessingTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	done := w.export(t, 1, "")
	running := w.claim(t, 2, done.ID)
	w.request(t)
	want := disconnected()
	want.Refresh.RefreshAt = asked.Add(15 * time.Minute)
	w.wantConnection(t, want)
	if got := w.task(t, done.ID); !got.FilesUntil.Equal(asked) {
		t.Errorf("the files live until %v", got.FilesUntil)
	}
	if got := w.task(t, running.ID); got.Status != export.Failed {
		t.Errorf("the pending export is %s", got.Status)
	}
	if len(w.enqueued) != 1 {
		t.Errorf("events %v, want that of the failed export", w.enqueued)
	}
	if got := w.audited(t); len(got) != 1 || got[0] != actor+" connection.disconnected "+connID {
		t.Errorf("audited %q", got)
	}
	if _, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID); err != nil {
		t.Errorf("tokens: %v: somebody without a key has changed them", err)
	}
}

// TestRequestedDisconnectionIsDueUntilFinished checks that the scheduler finds the connection even if its message is
// lost.
func TestRequestedDisconnectionIsDueUntilFinished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.request(t)
	found := func() []due.Item {
		var all []due.Item
		for shard := range store.DueShards {
			items, err := store.Timers{DB: w.tables.DB, Table: w.tables.Name("ConnectionTable")}.Due(t.Context(), shard,
				asked.Add(16*time.Minute))
			expect.NoError(t, err)
			all = append(all, items...)
		}
		return all
	}
	if got := found(); len(got) != 1 || got[0].ID != connID || got[0].Kind != due.Connection ||
		got[0].At.Before(asked.Add(10*time.Minute)) {
		t.Errorf("due: %v, want the connection, and not while a release is rolled out", got)
	}
	for range 2 {
		_, err := w.d.Finish(t.Context(), tenant, connID)
		expect.NoError(t, err)
		w.wantConnection(t, disconnected())
		if w.upstream(t) == nil || w.version(t) != 2 {
			t.Errorf("version %d, kept for upstream: %t", w.version(t), w.upstream(t) != nil)
		}
	}
}

// TestDisconnectFinishesRequestedDisconnection checks that Disconnect finishes a requested disconnection, regardless of
// the caller.
func TestDisconnectFinishesRequestedDisconnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.request(t)
	w.disconnect(t)
	w.wantConnection(t, disconnected())
	if w.upstream(t) == nil {
		t.Error("nothing is kept for the revocation upstream")
	}
}

func TestFinishSkipsReconnectedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.request(t)
	w.reconnect(t)
	c, err := w.d.Finish(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if _, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID); err != nil ||
		c.Status != connection.Authorized {
		t.Errorf("%s, tokens: %v", c.Status, err)
	}
}

// TestFinishRemovesUndecryptableTokensAfterOneDay checks that tokens are deleted without revocation if they can't be
// decrypted for a day.
func TestFinishRemovesUndecryptableTokensAfterOneDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.request(t)
	w.put(t, "TokensTable", tokensKey(), sealedAs("what no key opens"))
	if _, err := w.d.Finish(t.Context(), tenant, connID); err == nil {
		t.Fatal("damaged tokens were opened")
	}
	w.d.Now = func() time.Time { return asked.Add(24 * time.Hour) }
	c, err := w.d.Finish(t.Context(), tenant, connID)
	expect.NoError(t, err)
	_, err = w.store.Disconnections.Tokens(t.Context(), tenant, connID)
	if !errors.Is(err, fault.NotFound) || !c.Refresh.UpstreamUntil.IsZero() || w.upstream(t) != nil {
		t.Errorf("tokens: %v, then %+v", err, c.Refresh)
	}
}

func TestRequesterIgnoresEndedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ended := authorized()
	ended.Status, ended.Refresh = connection.Revoked, connection.RefreshState{Ended: "invalid_grant", EndedAt: start}
	w.keep(t, ended)
	n := &enqueued{}
	_, err := w.requester(n).Disconnect(t.Context(), tenant, connID, actor)
	expect.NoError(t, err)
	w.wantConnection(t, ended)
	if got := w.audited(t); len(got)+len(n.told) != 0 {
		t.Errorf("audited %q, told %v", got, n.told)
	}
	if _, err = w.requester(n).Disconnect(t.Context(), tenant, "c0000000-0000-4000-8000-0000000000ff",
		actor); !errors.Is(err, fault.NotFound) {
		t.Errorf("a connection that is not there: %v", err)
	}
}

// TestRequesterRetriesWhenAuditRowConflicts checks that a request is repeated if an audit row is added between its
// reads and its write, and that the audit chain stays intact.
func TestRequesterRetriesWhenAuditRowConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	r := w.requester(&enqueued{})
	r.Audit = overtaken{w.chain(), func() {
		expect.NoError(t, w.chain().Append(t.Context(), audit.Row{
			At: asked, ID: ids.Random(), Tenant: tenant, Actor: actor, Action: "webhook.created", Target: "x",
		}))
	}, new(int)}
	_, err := r.Disconnect(t.Context(), tenant, connID, actor)
	expect.NoError(t, err)
	if got := w.audited(t); len(got) != 2 || got[0] != actor+" connection.disconnected "+connID {
		t.Errorf("audited %q", got)
	}
}

// overtaken is an audit chain to which another caller adds a row after the first call to Next.
type overtaken struct {
	audit.Log

	overtake func()
	count    *int
}

func (o overtaken) Next(ctx context.Context, row audit.Row) (audit.Head, audit.Row, error) {
	head, row, err := o.Log.Next(ctx, row)
	if *o.count++; *o.count == 1 {
		o.overtake()
	}
	return head, row, err
}
