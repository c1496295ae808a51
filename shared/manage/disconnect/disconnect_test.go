package disconnect_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func (w *world) disconnect(t *testing.T) connection.Connection {
	t.Helper()
	c, err := w.d.Disconnect(t.Context(), tenant, connID)
	expect.NoError(t, err)
	return c
}

// wantConnection checks all fields of the stored connection except the revision.
func (w *world) wantConnection(t *testing.T, want connection.Connection) {
	t.Helper()
	got, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	got.Rev, want.Rev = 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
}

func (w *world) task(t *testing.T, id string) export.Task {
	t.Helper()
	task, err := w.store.Disconnections.Task(t.Context(), tenant, id)
	expect.NoError(t, err)
	return task
}

// due returns the IDs of the sweeper's items of one kind that become due within the given time of the request.
func (w *world) due(t *testing.T, kind due.Kind, within time.Duration) []string {
	t.Helper()
	var found []string
	for shard := range store.DueShards {
		items, err := store.Timers(w.store.Tasks).Due(t.Context(), shard, asked.Add(within))
		expect.NoError(t, err)
		for _, i := range items {
			if i.Kind == kind {
				found = append(found, i.ID)
			}
		}
	}
	slices.Sort(found)
	return found
}

func disconnected() connection.Connection {
	c := authorized()
	c.Status = connection.Revoked
	c.Refresh = connection.RefreshState{
		Ended: "disconnected", EndedAt: asked, RefreshAt: asked,
		UpstreamUntil: asked.Add(24 * time.Hour),
	}
	return c
}

func TestDisconnectKeepsTokensForUpstreamRevocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	answered := w.disconnect(t)
	if answered.Status != connection.Revoked || answered.ID != connID {
		t.Errorf("answered %s %s, want the connection, revoked", answered.Status, answered.ID)
	}
	w.wantConnection(t, disconnected())
	_, err := w.store.Disconnections.Tokens(t.Context(), tenant, connID)
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("tokens = %v, want fault.NotFound", err)
	}
	if got := w.version(t); got != 2 {
		t.Errorf("version = %d, want 2: one more than that of the set that ended", got)
	}
	plain, err := plainSealer{}.Open(t.Context(), tenant, refresh.UpstreamBinding(tenant, connID), w.upstream(t))
	expect.NoError(t, err)
	if got := string(plain); !strings.Contains(got, refreshToken(1)) ||
		!strings.Contains(got, "https://ehr.example/revoke") || strings.Contains(got, "access 1") {
		t.Errorf("kept for upstream: %s, want the refresh token and where it is revoked, and no access token", got)
	}
	if got := w.due(t, due.Event, 1000*time.Hour); got != nil || w.enqueued != nil {
		t.Errorf("events %v, messages %v, want none: the organisation knows", got, w.enqueued)
	}
}

func TestDisconnectDeletesTokensThatCannotBeRevokedUpstream(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(t *testing.T, w *world){
		"no revocation endpoint": func(t *testing.T, w *world) {
			t.Helper()
			w.connect(t)
			set := setOf(1)
			set.RevocationEndpoint = ""
			row, err := w.vault.Seal(t.Context(), tenant, connID, 2, set)
			expect.NoError(t, err)
			expect.NoError(t, w.store.Sets.RotateTokens(t.Context(), row))
		},
		"no tokens": func(t *testing.T, w *world) { t.Helper(); w.keep(t, authorized()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			given(t, w)
			w.disconnect(t)
			want := disconnected()
			want.Refresh = connection.RefreshState{Ended: "disconnected", EndedAt: asked}
			w.wantConnection(t, want)
			if got := w.upstream(t); got != nil {
				t.Errorf("%q is kept", got)
			}
		})
	}
}

func TestDisconnectKeepsAccessTokenWithoutRefreshToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	set := setOf(2)
	set.RefreshToken = secret.Text{}
	row, err := w.vault.Seal(t.Context(), tenant, connID, 2, set)
	expect.NoError(t, err)
	expect.NoError(t, w.store.Sets.RotateTokens(t.Context(), row))
	w.disconnect(t)
	if got := string(w.upstream(t)); !strings.Contains(got, "access 2") {
		t.Errorf("kept for upstream: %s, want the access token", got)
	}
}

func TestDisconnectFailsPendingExportWithEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	task := w.claim(t, 1, "")
	w.disconnect(t)

	want := task
	want.Status, want.FailureReason, want.FinishedAt, want.SentAt = export.Failed, export.TokenRefreshFailure, asked, asked
	want.LeaseUntil, want.FilesUntil = time.Time{}, asked.Add(20*time.Minute)
	if diff := cmp.Diff(want, w.task(t, task.ID)); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	id := webhook.EventID(tenant, webhook.ExportFailed, task.ID, 0)
	event, err := store.Events(w.store.Tasks).Event(t.Context(), tenant, id)
	expect.NoError(t, err)
	var body struct {
		Data webhook.ExportFailure `json:"data"`
	}
	expect.NoError(t, json.Unmarshal(event.Body, &body))
	told := webhook.ExportFailure{
		FailureReason: "token_refresh_failure", OrgConnectionID: connID, TaskID: task.ID,
		OrgID: tenant.OrgID,
	}
	if diff := cmp.Diff(told, body.Data); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{id}, w.enqueued); diff != "" {
		t.Errorf("enqueued (-want +got):\n%s", diff)
	}
	// The objects of the task's runs are deleted once none of the runs can still be active.
	if soon, then := w.due(t, due.Task, 19*time.Minute), w.due(t, due.Task, 20*time.Minute); soon != nil ||
		!slices.Equal(then, []string{task.ID}) {
		t.Errorf("due after 19 minutes: %v, after 20: %v, want nothing, then the task", soon, then)
	}
	if err := w.store.ExtendTask(t.Context(), task, asked.Add(time.Hour)); !errors.Is(err, fault.Conflict) {
		t.Errorf("the worker's next write = %v, want fault.Conflict", err)
	}
}

func TestDisconnectExpiresFilesOfAllExports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	var previous string
	var want []string
	for n := range 25 {
		var task export.Task
		if n%5 == 3 { // some of the tasks in between fail
			failed, event, err := w.claim(t, n, previous).Fail(export.ResourcePatientFailure, start)
			expect.NoError(t, err)
			expect.NoError(t, w.store.FinishTask(t.Context(), failed, event))
			expect.NoError(t, w.store.ForgetFile(t.Context(), failed)) // deletes the file in the sweeper's way
			task = failed
		} else {
			task = w.export(t, n, previous)
			want = append(want, task.ID)
		}
		previous = task.ID
	}
	w.disconnect(t)
	for _, id := range want {
		task := w.task(t, id)
		if _, err := task.Downloadable(task.Files[0].Name, asked); fault.Of(err).Code != fault.CodeExportExpired {
			t.Errorf("a download of %s answers %v, want %s", id, err, fault.CodeExportExpired)
		}
	}
	if diff := cmp.Diff(want, w.due(t, due.Task, time.Minute)); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}

func TestDisconnectSkipsExportsWhoseFilesHaveExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	old := taskOf(2)
	old.CreatedAt = asked.Add(-13 * 24 * time.Hour)
	w.export(t, 1, "") // This task lies beyond the limit oldest, so its file must not be expired.
	expect.NoError(t, w.register().OpenTask(t.Context(), old, taskOf(1).ID))
	claimed, err := w.store.ClaimTask(t.Context(), tenant, old.ID, start, asked)
	expect.NoError(t, err)
	done := succeeded(claimed)
	expect.NoError(t, w.store.FinishTask(t.Context(), done, doneEvent(done)))
	w.export(t, 3, old.ID)
	w.disconnect(t)
	if diff := cmp.Diff([]string{taskOf(2).ID, taskOf(3).ID}, w.due(t, due.Task, time.Minute)); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}

	gone := newWorld(t)
	gone.connect(t)
	gone.put(t, "WorkTable", keyOf(tenant.Key()+"#LATEST#"+connID, "META"),
		map[string]types.AttributeValue{"task_id": text(taskOf(8).ID)})
	gone.export(t, 9, taskOf(8).ID) // The row of task 8, the preceding task, has expired.
	gone.disconnect(t)
	if diff := cmp.Diff([]string{taskOf(9).ID}, gone.due(t, due.Task, time.Minute)); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}

type endless struct {
	*stage

	seen int
}

func (e *endless) LatestTask(context.Context, org.Tenant, string) (string, error) {
	return taskOf(0).ID, nil
}

func (e *endless) Task(context.Context, org.Tenant, string) (export.Task, error) {
	e.seen++
	task := succeeded(taskOf(e.seen))
	task.Previous = taskOf(e.seen + 1).ID
	return task, nil
}

func (e *endless) EndFile(context.Context, export.Task, time.Time) error { return nil }

func TestDisconnectLimitsNumberOfExportsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	endless := &endless{stage: w.store}
	w.d.Store = endless
	_, err := w.d.Disconnect(t.Context(), tenant, connID)
	if !errors.Is(err, fault.Conflict) || endless.seen != 6*500 { // LatestTask names a task that does not exist.
		t.Errorf("%v after %d tasks, want fault.Conflict after 500 at each of 6 tries", err, endless.seen)
	}
}

func TestDisconnectIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.export(t, 1, "")
	w.claim(t, 2, taskOf(1).ID)
	first := w.disconnect(t)
	w.store.calls = nil
	w.d.Now = func() time.Time { return asked.Add(time.Hour) }
	second := w.disconnect(t)
	second.Rev = first.Rev
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("answered (-first +second):\n%s", diff)
	}
	for _, call := range w.store.calls {
		if strings.HasPrefix(call, "End") {
			t.Errorf("the second disconnection calls %s", call)
		}
	}
	w.wantConnection(t, disconnected())
	if len(w.enqueued) != 1 {
		t.Errorf("%d messages, want 1", len(w.enqueued))
	}
}

func TestDisconnectKeepsEndedConnectionAndCancelsItsExports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.export(t, 1, "")
	w.claim(t, 2, taskOf(1).ID)
	want := w.refused(t)
	w.disconnect(t)
	w.wantConnection(t, want)
	if got := w.upstream(t); got != nil {
		t.Errorf("%q is kept, but the health system has ended it by itself", got)
	}
	w.wantNoExports(t)

	declined := authorized()
	declined.Status, declined.Refresh = connection.Rejected, connection.RefreshState{}
	r := newWorld(t)
	r.keep(t, declined)
	if got := r.disconnect(t); got.Status != connection.Rejected {
		t.Errorf("status = %s, want that of a connection that never came about", got.Status)
	}
	r.wantConnection(t, declined)
}

// refused revokes the connection in the same way as the refresh worker.
func (w *world) refused(t *testing.T) connection.Connection {
	t.Helper()
	c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: "invalid_grant"}
	event := webhook.Event{
		ID:     webhook.EventID(tenant, webhook.AuthorizationEnded, connID, c.Generation),
		Tenant: tenant, Type: webhook.AuthorizationEnded, Body: []byte("{}"), CreatedAt: start,
	}
	expect.NoError(t, w.refresh().RevokeConnection(t.Context(), c, w.version(t), event))
	return c
}

func TestDisconnectRejectsConnectionOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.claim(t, 1, "")
	for name, c := range map[string]struct {
		of org.Tenant
		id string
	}{
		"the other mode":       {org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, connID},
		"another organisation": {org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}, connID},
		"another connection":   {tenant, "c0000000-0000-4000-8000-000000000002"},
	} {
		_, err := w.d.Disconnect(t.Context(), c.of, c.id)
		if got := fault.Of(err); !errors.Is(err, fault.NotFound) || got.Public != "Connection not found." {
			t.Errorf("%s: %v, want that there is no such connection", name, err)
		}
	}
	w.wantConnection(t, authorized())
	if got := w.task(t, taskOf(1).ID).Status; got != export.Pending {
		t.Errorf("task = %s, want pending", got)
	}
}

func TestDisconnectKeepsConnectionWhenTokensCannotBeDecrypted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(t)
	w.export(t, 1, "")
	w.d.Vault = tokens.Vault{Sealer: outOfOrder{}}
	if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) {
		t.Errorf("error = %v, want the sealer's", err)
	}
	w.d.Vault, w.d.Sealer = w.vault, outOfOrder{}
	if _, err := w.d.Disconnect(t.Context(), tenant, connID); !errors.Is(err, errTrouble) {
		t.Errorf("error = %v, want the sealer's", err)
	}
	w.wantConnection(t, authorized())
	if got := w.due(t, due.Task, time.Minute); got != nil {
		t.Errorf("the files of %v have ended", got)
	}
}

type outOfOrder struct{}

func (outOfOrder) Seal(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, errTrouble
}

func (outOfOrder) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, errTrouble
}
