package refresh_test

import (
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
)

// requested applies a disconnection request to c. The connection still has tokens and is scheduled for processing.
func requested(c *connection.Connection) {
	disconnect(c)
	c.Refresh.RefreshAt = start.Add(15 * time.Minute)
}

func TestWorkerFinishesRequestedDisconnectionBeforeItIsDue(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.change(requested)
	b.finish = func() error {
		b.leave(t, setOf("refresh 1")) // the next revocation attempt is due immediately
		return nil
	}
	if got := b.look(t); b.finished != 1 || len(b.revoked) != 1 || got.Refresh.Ended != connection.Disconnected ||
		!got.DueAt().IsZero() {
		t.Errorf("finished %d times, revoked %d sets, due at %v", b.finished, len(b.revoked), got.DueAt())
	}
	if b.asked != 0 || len(b.store.events) != 0 || len(b.store.upstream) != 0 {
		t.Errorf("%d refreshes, %d events, %d rows left", b.asked, len(b.store.events), len(b.store.upstream))
	}
}

func TestWorkerCompletesRequestedDisconnectionWithNothingToRevoke(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.change(requested)
	if got := b.look(t); b.finished != 1 || !got.Refresh.UpstreamUntil.IsZero() || !got.DueAt().IsZero() {
		t.Errorf("finished %d times, then %+v", b.finished, got.Refresh)
	}
}

func TestWorkerRetriesFailedFinish(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.change(requested)
	b.finish = func() error { return errOurs }
	if got := b.look(t); got.DueAt().Sub(b.at) != time.Minute || got.Refresh.UpstreamUntil.IsZero() {
		t.Errorf("after a failure it is due at %v, until %v", got.DueAt(), got.Refresh.UpstreamUntil)
	}
}

// TestWorkerSkipsUpstreamRevocationBeforeItIsDue covers a duplicate message about a finished disconnection.
func TestWorkerSkipsUpstreamRevocationBeforeItIsDue(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.leave(t, setOf("refresh 1"))
	b.change(func(c *connection.Connection) { c.Refresh.RefreshAt = start.Add(time.Hour) })
	if got := b.look(t); b.finished != 0 || len(b.revoked) != 0 || !got.DueAt().Equal(start.Add(time.Hour)) {
		t.Errorf("finished %d times, revoked %d sets, due at %v", b.finished, len(b.revoked), got.DueAt())
	}
}

// TestWorkerSkipsReconnectedConnection covers a patient who reconnects between the worker's read and write.
func TestWorkerSkipsReconnectedConnection(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.change(requested)
	next := start.Add(100 * time.Hour)
	b.finish = func() error {
		b.change(func(c *connection.Connection) {
			c.Status, c.Generation, c.Refresh = connection.Authorized, c.Generation+1, connection.RefreshState{RefreshAt: next}
		})
		return nil
	}
	if got := b.look(t); got.Status != connection.Authorized || !got.Refresh.RefreshAt.Equal(next) || len(b.revoked) != 0 {
		t.Errorf("the new authorisation is %+v, %d sets were revoked", got, len(b.revoked))
	}
	expect.NoError(t, b.worker().Process(t.Context(), tenant, connID))
}
