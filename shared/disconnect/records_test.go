package disconnect_test

import (
	"context"
	"errors"
	"testing"

	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/tokens"
)

// removals remembers what was removed, and does something at each.
type removals struct {
	batches []string
	act     func() error
}

func (r *removals) Delete(_ context.Context, of org.Tenant, id string, held tokens.Records) error {
	if of != tenant || id != connID {
		return errors.New("the record of another connection")
	}
	r.batches = append(r.batches, held.Batch)
	if act := r.act; act != nil {
		r.act = nil
		return act()
	}
	return nil
}

// cached makes the connection one of TEFCA, whose record is cached under the name of a batch.
func (w *world) cached(t *testing.T, version int64, batch string) {
	t.Helper()
	set := tokens.Set{Records: &tokens.Records{Generation: 1, Batch: batch, Chunks: 1}}
	row, err := w.vault.Seal(t.Context(), tenant, connID, version, set)
	expect.NoError(t, err)
	expect.NoError(t, w.store.Sets.RotateTokens(t.Context(), row))
}

// TestWhatIsCachedOfTheRecordGoesWithTheConnection, before that has ended: a crash in between is made up for by doing it again.
func TestWhatIsCachedOfTheRecordGoesWithTheConnection(t *testing.T) {
	t.Parallel()
	for name, point := range map[string]string{"at once": "", "after a crash": "before EndConnection", "after a crash behind": "after EndConnection"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, gone := newWorld(t), &removals{}
			w.d.Records = gone
			w.connect(t)
			w.cached(t, 2, "one")
			if point != "" {
				w.store.at(point, func() error { return errTrouble })
				if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) {
					t.Fatalf("%v, want the trouble", err)
				}
			}
			if got := w.disconnect(t); got.Status != connection.Revoked || len(gone.batches) == 0 || gone.batches[0] != "one" {
				t.Errorf("%s, removed %v", got.Status, gone.batches)
			}
			_, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID)
			expect.NotFound(t, "the token set", err)
		})
	}
}

// TestARecordThatCannotBeRemovedKeepsTheConnection for the next try.
func TestARecordThatCannotBeRemovedKeepsTheConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.d.Records = &removals{act: func() error { return errTrouble }}
	w.connect(t)
	w.cached(t, 2, "one")
	if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) || errors.Is(err, fault.Conflict) {
		t.Errorf("%v, want the trouble", err)
	}
	if c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID); err != nil || c.Status != connection.Authorized {
		t.Errorf("%s, %v", c.Status, err)
	}
}

// TestARecordThatIsCachedAgainMeanwhileGoesToo: the patient has authorised again while the first one went.
func TestARecordThatIsCachedAgainMeanwhileGoesToo(t *testing.T) {
	t.Parallel()
	w, gone := newWorld(t), &removals{}
	w.d.Records = gone
	w.connect(t)
	w.cached(t, 2, "one")
	gone.act = func() error { w.cached(t, 3, "two"); return nil }
	w.disconnect(t)
	if len(gone.batches) != 2 || gone.batches[1] != "two" {
		t.Errorf("removed %v", gone.batches)
	}
}
