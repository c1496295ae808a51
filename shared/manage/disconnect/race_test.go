package disconnect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// finishedID and pendingID are the IDs of the two exports that exist when a race starts.
var finishedID, pendingID = taskOf(1).ID, taskOf(2).ID

// wantNoExports checks that no export is pending and that no file can be downloaded.
func (w *world) wantNoExports(t *testing.T) {
	t.Helper()
	id, err := w.store.Disconnections.LatestTask(t.Context(), tenant, connID)
	expect.NoError(t, err)
	for id != "" {
		task := w.task(t, id)
		switch {
		case task.Status == export.Pending:
			t.Errorf("%s is pending", id)
		case task.Status == export.Success && asked.Before(task.FilesUntil):
			t.Errorf("the file of %s lives until %v", id, task.FilesUntil)
		case task.Status == export.Failed:
			w.wantEvents(t, task, false, true)
		default:
			w.wantEvents(t, task, true, false)
		}
		id = task.Previous
	}
}

// wantEvents checks that events with exactly the given outcomes of a task were emitted.
func (w *world) wantEvents(t *testing.T, task export.Task, succeeded, failed bool) {
	t.Helper()
	check := func(kind webhook.Type, want bool) {
		t.Helper()
		_, err := store.Events(w.store.Tasks).Event(t.Context(), tenant, webhook.EventID(tenant, kind, task.ID, 0))
		if got := err == nil; got != want {
			t.Errorf("%s of %s is stored: %t (%v), want %t", kind, task.ID, got, err, want)
		}
	}
	check(webhook.ExportSucceeded, succeeded)
	check(webhook.ExportFailed, failed)
}

// others returns operations to run concurrently with a disconnection. Losing the race is not an error.
func others() map[string]func(*testing.T, *world) error {
	return map[string]func(*testing.T, *world) error{
		"an export opens": func(t *testing.T, w *world) error {
			t.Helper()
			pending := w.task(t, pendingID)
			if pending.Status == export.Pending { // The next task is created once this task has ended.
				failed, event, err := pending.Fail(export.ResourcePatientFailure, start)
				expect.NoError(t, err)
				expect.NoError(t, w.store.FinishTask(t.Context(), failed, event))
			}
			return w.register().OpenTask(t.Context(), taskOf(3), pendingID)
		},
		"an export opens and succeeds": func(t *testing.T, w *world) error {
			t.Helper()
			finished := succeeded(w.task(t, pendingID))
			if err := w.store.FinishTask(t.Context(), finished, doneEvent(finished)); err != nil {
				return err
			}
			if err := w.register().OpenTask(t.Context(), taskOf(3), pendingID); err != nil {
				return err
			}
			next, err := w.store.ClaimTask(t.Context(), tenant, taskOf(3).ID, start, asked.Add(time.Hour))
			expect.NoError(t, err)
			next = succeeded(next)
			return w.store.FinishTask(t.Context(), next, doneEvent(next))
		},
		"an export succeeds": func(t *testing.T, w *world) error {
			t.Helper()
			finished := succeeded(w.task(t, pendingID))
			return w.store.FinishTask(t.Context(), finished, doneEvent(finished))
		},
		"an export fails": func(t *testing.T, w *world) error {
			t.Helper()
			failed, event, err := w.task(t, pendingID).Fail(export.TokenRefreshFailure, start)
			expect.NoError(t, err)
			return w.store.FinishTask(t.Context(), failed, event)
		},
		"an export hands over": func(t *testing.T, w *world) error {
			t.Helper()
			return w.store.YieldTask(t.Context(), w.task(t, pendingID), start, start)
		},
		"a refresh begins": func(t *testing.T, w *world) error {
			t.Helper()
			row := tokens.Row{
				Tenant: tenant, ConnectionID: connID, Version: 1, LeaseOwner: "worker",
				LeaseUntil: asked.Add(time.Minute),
			}
			return w.store.Sets.LeaseTokens(t.Context(), row, asked)
		},
		"a refresh ends": func(t *testing.T, w *world) error {
			t.Helper()
			row, err := w.vault.Seal(t.Context(), tenant, connID, 2, setOf(2))
			expect.NoError(t, err)
			return w.store.Sets.RotateTokens(t.Context(), row)
		},
		"tokens become due": func(t *testing.T, w *world) error {
			t.Helper()
			return w.store.RefreshDue(t.Context(), tenant, connID, asked)
		},
		"the patient reconnects": func(t *testing.T, w *world) error { t.Helper(); w.reconnect(t); return nil },
		"the health system refuses": func(t *testing.T, w *world) error {
			t.Helper()
			c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
			expect.NoError(t, err)
			if c.Status == connection.Authorized {
				w.refused(t)
			}
			return nil
		},
		"another disconnection": func(t *testing.T, w *world) error {
			t.Helper()
			other := w.d
			other.Store = w.store.Disconnections
			_, err := other.Disconnect(t.Context(), tenant, connID)
			return err
		},
	}
}

// TestDisconnectCompletesDespiteConcurrentChanges runs a concurrent operation at each step of a disconnection.
// Everything created before the last step must end. Later operations must see that the connection has ended, and a
// refresh in progress must store nothing.
func TestDisconnectCompletesDespiteConcurrentChanges(t *testing.T) {
	t.Parallel()
	for other, act := range others() {
		for _, point := range points() {
			t.Run(other+" "+point, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.connect(t)
				w.export(t, 1, "")
				w.claim(t, 2, finishedID)
				met, lost := false, false
				w.store.at(point, func() error {
					met = true
					err := act(t, w)
					lost = errors.Is(err, fault.Conflict)
					if err != nil && !lost {
						t.Error(err)
					}
					return nil
				})
				w.disconnect(t)
				if !met {
					t.Fatal("the moment never came")
				}
				after := point == "after EndConnection"
				if after && !lost && other != "the patient reconnects" && other != "the health system refuses" &&
					other != "another disconnection" {
					t.Error("it happened although the connection had ended")
				}
				if other == "the patient reconnects" && after {
					w.wantReconnected(t)
					return
				}
				last := 1 // version of the token set that ended
				if !lost && (other == "a refresh ends" || other == "the patient reconnects") {
					last = 2
				}
				if other == "the health system refuses" && !after {
					last = 0 // Another operation has already ended the token set.
				}
				w.wantEnded(t, last)
			})
		}
	}
}

func (w *world) wantReconnected(t *testing.T) {
	t.Helper()
	c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	row, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID)
	if c.Status != connection.Authorized || err != nil || row.Version != 3 {
		t.Errorf("status %s, version %d (%v), want what the patient's return has brought", c.Status, row.Version, err)
	}
}

// wantEnded checks that no token set remains except that of version last, which is kept for upstream revocation. If
// last is 0, no token set may remain.
func (w *world) wantEnded(t *testing.T, last int) {
	t.Helper()
	c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	ended, kept := "disconnected", fmt.Sprintf(`"refresh_token":%q`, refreshToken(int64(last)))
	if last == 0 {
		ended, kept = "invalid_grant", ""
	}
	if c.Status != connection.Revoked || c.Refresh.Ended != ended {
		t.Errorf("%s because of %s, want revoked because of %s", c.Status, c.Refresh.Ended, ended)
	}
	if got := string(w.upstream(t)); !strings.Contains(got, kept) || (got == "") != (kept == "") {
		t.Errorf("kept for upstream: %q, want %q", got, kept)
	}
	if _, err = w.store.Disconnections.Tokens(t.Context(), tenant, connID); !errors.Is(err, fault.NotFound) {
		t.Errorf("tokens: %v, want fault.NotFound", err)
	}
	w.wantNoExports(t)
	latest, err := w.store.Disconnections.LatestTask(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if err = w.register().OpenTask(t.Context(), taskOf(9), latest); !errors.Is(err, fault.Conflict) {
		t.Errorf("opening an export = %v, want fault.Conflict", err)
	}
	row, err := w.vault.Seal(t.Context(), tenant, connID, w.version(t)+1, setOf(9))
	expect.NoError(t, err)
	if err = w.store.Sets.RotateTokens(t.Context(), row); !errors.Is(err, fault.Conflict) {
		t.Errorf("storing refreshed tokens = %v, want fault.Conflict", err)
	}
}

// TestDisconnectFinishesInterruptedDisconnection repeats a disconnection in which one call failed, before or after
// taking effect, and checks that it completes.
func TestDisconnectFinishesInterruptedDisconnection(t *testing.T) {
	t.Parallel()
	for _, point := range points() {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.connect(t)
			w.export(t, 1, "")
			w.claim(t, 2, finishedID)
			w.store.at(point, func() error { return errTrouble })
			if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) {
				t.Errorf("error = %v, want the trouble", err)
			}
			c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
			expect.NoError(t, err)
			if c.Status == connection.Revoked {
				w.wantNoExports(t) // A revoked connection has no files, regardless of which call failed.
			}
			if got := w.disconnect(t); got.Status != connection.Revoked {
				t.Errorf("status = %s, want revoked", got.Status)
			}
			w.wantEnded(t, 1)
		})
	}
}

func TestDisconnectIsUnavailableAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	restless := &restless{stage: w.store}
	w.d.Store = restless
	_, err := w.d.Disconnect(t.Context(), tenant, connID)
	if got := fault.Of(err); got.Code != fault.CodeUnavailable || restless.tried != 6 {
		t.Errorf("%v after %d tries, want that it is unavailable after 6", err, restless.tried)
	}
	w.wantConnection(t, authorized())
}

type restless struct {
	*stage

	tried int
}

func (r *restless) EndConnection(context.Context, disconnect.Ending) error {
	r.tried++
	return fault.Stale()
}

// TestDisconnectDiscardsConcurrentRefresh covers a refresh whose response arrives after the disconnection.
func TestDisconnectDiscardsConcurrentRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.export(t, 1, "")
	manager := tokens.NewManager(w.store.Sets, w.vault, refresher(func() { w.disconnect(t) }), unlimited{},
		func() time.Time { return asked }, func() string { return "worker" })
	if _, err := manager.Refresh(t.Context(), tenant, connID); !errors.Is(err, fault.NotFound) {
		t.Errorf("refresh = %v, want fault.NotFound", err)
	}
	w.wantEnded(t, 1)
}

// refresher is an EHR that calls a function before it responds.
type refresher func()

func (meanwhile refresher) Refresh(context.Context, org.Tenant, tokens.Set) (tokens.Set, error) {
	meanwhile()
	return setOf(2), nil
}

type unlimited struct{}

func (unlimited) Acquire(context.Context, string) (tokens.Slot, error) { return unlimited{}, nil }
func (unlimited) Until() time.Time                                     { return asked.Add(time.Minute) }
func (unlimited) Release(context.Context, error)                       {}
