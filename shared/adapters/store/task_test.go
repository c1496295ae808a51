package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func TestOpenTaskRequiresAuthorizedConnection(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	expect.Conflict(t, "without a connection", s.register.OpenTask(t.Context(), pendingTask(tenant), ""))
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	rejected := connectionOf(tenant)
	rejected.Status = connection.Rejected
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(),
		flow.Conclusion{Attempt: attemptOf(tenant), Error: "access_denied", Connection: rejected}))
	expect.Conflict(t, "on a rejected connection", s.register.OpenTask(t.Context(), pendingTask(tenant), ""))
	_, err := s.tasks.Task(t.Context(), tenant, taskID)
	expect.NotFound(t, "the task", err)
}

func succeeded(task export.Task) export.Task {
	task.Status = export.Success
	task.Stats = webhook.Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Observation": 2}}
	task.Outcome = []export.TypeOutcome{
		{Type: "Patient", Result: export.OutcomeOK, Count: 1},
		{Type: "Claim", Result: export.OutcomeDenied, Status: 403},
	}
	task.Files = []export.File{{
		Format: export.JSONLines, Name: "export.ndjson", Key: "test/a/export.ndjson", ContentType: "application/fhir+ndjson",
		Bytes: 1 << 33, SHA256: "00",
	}}
	task.Manifest = export.Manifest{Key: "test/a/manifest-1.json", Signature: "a..b"}
	task.Scope = export.Scope{Asked: "a b", Granted: "a"}
	task.FinishedAt, task.SentAt, task.FilesUntil = now.Add(time.Minute), now.Add(time.Minute), now.Add(8*24*time.Hour)
	task.LeaseUntil = time.Time{}
	return task
}

func TestExpireFilesSucceedsOnlyOnceAndKeepsRowDue(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	at, look := now.Add(time.Hour), now.Add(2*time.Hour)
	expect.Conflict(t, "the files of a pending task", s.tasks.ExpireFiles(t.Context(), task, at, look))
	task = succeeded(task)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	expect.Conflict(t, "another tenant's", s.tasks.ExpireFiles(t.Context(),
		export.Task{ID: taskID, Tenant: org.Tenant{Mode: org.Live, OrgID: orgA}}, at, look))
	expect.Conflict(t, "when their time is over", s.tasks.ExpireFiles(t.Context(), task, task.FilesUntil, look))

	if won := expect.Winners(t, 10, func(ctx context.Context,
		_ int,
	) error {
		return s.tasks.ExpireFiles(ctx, task, at, look)
	}); won != 1 {
		t.Errorf("%d of 10 requests ended their time, want 1", won)
	}
	want := task
	want.FilesUntil = at
	got, err := s.tasks.Task(t.Context(), tenant, taskID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	var found []due.Item
	for _, i := range s.allDue(t, now.Add(1000*time.Hour)) {
		if i.Kind == due.Task {
			found = append(found, i)
		}
	}
	if diff := cmp.Diff([]due.Item{{Tenant: tenant, Kind: due.Task, ID: taskID, At: look}}, found); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}

func TestExpireFilesRejectsFailedTask(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	task.Status, task.FinishedAt, task.FilesUntil = export.Failed, now, now.Add(time.Hour)
	expect.NoError(t, s.tasks.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	expect.Conflict(t, "ExpireFiles", s.tasks.ExpireFiles(t.Context(), task, now, now))
}
