package erase_test

import (
	"context"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/words/org"
)

// TestWorkerRemovesDataWrittenDuringErasure covers an object that an export wrote after its row was removed, and an
// event that reached the index late.
func TestWorkerRemovesDataWrittenDuringErasure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	register := store.NewRegister(store.Work(f.store.ErasureRequests), f.store.Connections)
	expect.NoError(t, register.OpenTask(t.Context(), exportOf(taskID), ""))
	f.objects["test/"+tenant.OrgID+"/"+taskID+"/segment-1.ndjson"] = true
	f.objects["test/"+tenant.OrgID+"/"+taskID+"/checkpoint-1.json"] = true
	f.request(t)
	f.pass(t, 0)
	f.pass(t, time.Minute)
	f.objects["test/"+tenant.OrgID+"/"+taskID+"/segment-2.ndjson"] = true
	if e := f.pass(t, 21*time.Minute); e.Stage != erase.Looking {
		t.Errorf("stage %s with an object that came late, want another look", e.Stage)
	}
	f.tell(t, 1)
	f.at = f.at.Add(time.Second)
	if e := f.pass(t, time.Minute); e.Stage == erase.Done {
		t.Error("it is done with an event that came late")
	}
	f.pass(t, time.Minute)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.NothingToRevoke,
		erase.Counts{Connections: 1, Tokens: 1, Exports: 1, Files: 3, Events: 1, Deliveries: 1})
}

// TestWorkerRemovesCachedRecord checks that every cached version is removed, including one that was being written when
// the row was removed.
func TestWorkerRemovesCachedRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	folder := "test/" + tenant.OrgID + "/" + connID + "/"
	f.cached[folder+"1/b0/0"], f.cached[folder+"1/b1/alder.xml/0"] = true, true
	f.request(t)
	f.pass(t, 0)
	f.cached[folder+"2/b2/0"] = true
	f.pass(t, time.Minute)
	if e := f.pass(t, 21*time.Minute); e.Stage != erase.Looking {
		t.Errorf("stage %s with a chunk that came late, want another look", e.Stage)
	}
	others := "test/" + tenant.OrgID + "/c0000000-0000-4000-8000-000000000002/1/b3/0"
	f.cached[others] = true
	e := f.pass(t, 21*time.Minute)
	if !f.cached[others] {
		t.Error("another connection's record is gone")
	}
	delete(f.cached, others)
	f.wantDone(t, e, erase.NothingToRevoke, erase.Counts{Connections: 1, Tokens: 1, Files: 3})
}

// returning is a store in which the patient reconnects just before the connection is removed.
type returning struct {
	store.Erasures

	f *fixture
}

func (r *returning) RemoveConnection(ctx context.Context, of org.Tenant, id string, now time.Time) error {
	if r.f.asked == 1 {
		c, err := r.Connection(ctx, of, id)
		if err != nil {
			return err
		}
		c.Status = connection.Authorized
		if err := r.f.save(ctx, c); err != nil {
			return err
		}
	}
	return r.Erasures.RemoveConnection(ctx, of, id, now)
}

func TestWorkerEndsConnectionReconnectedDuringErasure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.worker.Store = &returning{f.store, f}
	f.request(t)
	f.pass(t, 0)
	f.pass(t, time.Minute)
	f.wantDone(t, f.pass(t, 21*time.Minute), erase.NothingToRevoke, erase.Counts{Connections: 1, Tokens: 1})
	if f.asked != 2 {
		t.Errorf("it ended %d times, want twice", f.asked)
	}
}
