package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connection"
	"recordbridge/shared/due"
	"recordbridge/shared/export"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

func TestAnOpenedTaskIsItsConnectionsNewest(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := s.open(t, tenant)

	got, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	latest, err := s.work.LatestTask(t.Context(), tenant, connID)
	must(t, err)
	if latest != taskID {
		t.Errorf("newest task = %s, want %s", latest, taskID)
	}
	_, err = s.work.LatestTask(t.Context(), tenant, "another connection")
	wantMissing(t, "the newest task of another connection", err)
}

func TestOpeningATaskOverAnUnexpectedNewestOneWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	next := pendingTask(tenant)
	next.ID = taskNumber(2)
	for _, previous := range []string{"", taskNumber(9), next.ID} {
		wantConflict(t, "OpenTask after "+previous, s.work.OpenTask(t.Context(), next, previous))
	}
	_, err := s.work.Task(t.Context(), tenant, next.ID)
	wantMissing(t, "the refused task", err)

	must(t, s.work.OpenTask(t.Context(), next, taskID))
	latest, err := s.work.LatestTask(t.Context(), tenant, connID)
	must(t, err)
	if latest != next.ID {
		t.Errorf("newest task = %s, want %s", latest, next.ID)
	}
	if opened, err := s.work.Task(t.Context(), tenant, latest); err != nil || opened.Previous != taskID {
		t.Errorf("the task before it = %q (%v), want %s", opened.Previous, err, taskID)
	}
}

func TestATaskOpensOnAnAuthorizedConnectionOnly(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	wantConflict(t, "without a connection", s.work.OpenTask(t.Context(), pendingTask(tenant), ""))
	must(t, s.flow.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	rejected := connectionOf(tenant)
	rejected.Status = connection.Rejected
	must(t, s.flow.ConcludeAttempt(t.Context(), flow.Conclusion{Attempt: attemptOf(tenant), Error: "access_denied", Connection: rejected}))
	wantConflict(t, "on a rejected connection", s.work.OpenTask(t.Context(), pendingTask(tenant), ""))
	_, err := s.work.Task(t.Context(), tenant, taskID)
	wantMissing(t, "the task", err)
}

func TestOfFiftyOpenersExactlyOneOpensATask(t *testing.T) {
	t.Parallel()
	for _, previous := range []string{"", taskID} {
		s := newStores(t)
		if previous == "" {
			s.connect(t, tenant)
		} else {
			s.open(t, tenant)
		}
		const openers = 50
		if won := race(t, openers, func(ctx context.Context, i int) error {
			task := pendingTask(tenant)
			task.ID = taskNumber(100 + i)
			return s.work.OpenTask(ctx, task, previous)
		}); won != 1 {
			t.Errorf("%d of %d openers after %q won, want 1", won, openers, previous)
		}
		stored := 0
		latest, err := s.work.LatestTask(t.Context(), tenant, connID)
		must(t, err)
		for i := range openers {
			task, err := s.work.Task(t.Context(), tenant, taskNumber(100+i))
			if err != nil {
				continue
			}
			stored++
			if task.ID != latest {
				t.Errorf("task %s is stored, but %s is the newest", task.ID, latest)
			}
		}
		if stored != 1 {
			t.Errorf("%d tasks are stored, want 1", stored)
		}
	}
}

func TestOfManyClaimsOneWinsAndTheNextWaitsForTheLease(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	claim := func(ctx context.Context, at time.Time) (export.Task, error) {
		return s.work.ClaimTask(ctx, tenant, taskID, at, at.Add(time.Minute))
	}
	if won := race(t, 20, func(ctx context.Context, _ int) error { _, err := claim(ctx, now); return err }); won != 1 {
		t.Errorf("%d of 20 claims won, want 1", won)
	}
	_, err := claim(t.Context(), now.Add(time.Minute))
	wantConflict(t, "a claim in the lease's last moment", err)

	if won := race(t, 20, func(ctx context.Context, _ int) error {
		_, failure := claim(ctx, now.Add(time.Minute+time.Microsecond))
		return failure
	}); won != 1 {
		t.Errorf("%d of 20 claims after the lease won, want 1", won)
	}
	task, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
	if task.Generation != 2 || !task.LeaseUntil.Equal(now.Add(2*time.Minute+time.Microsecond)) {
		t.Errorf("generation %d until %v, want 2 and a minute after the second claim", task.Generation, task.LeaseUntil)
	}
}

func TestAnOldGenerationWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	old := s.claim(t)
	later := now.Add(2 * time.Minute)
	current, err := s.work.ClaimTask(t.Context(), tenant, taskID, later, later.Add(time.Minute))
	must(t, err)

	before := s.writes.Load()
	old.Checkpoint, old.Setbacks = "stolen", 4
	finished := old
	finished.Status, finished.FinishedAt = export.Success, later
	wantConflict(t, "ExtendTask", s.work.ExtendTask(t.Context(), old, later.Add(time.Hour)))
	wantConflict(t, "ReportTask", s.work.ReportTask(t.Context(), old, later.Add(time.Hour), eventOf(tenant, eventID)))
	_, err = s.work.ContinueTask(t.Context(), old, later.Add(time.Hour))
	wantConflict(t, "ContinueTask", err)
	wantConflict(t, "YieldTask", s.work.YieldTask(t.Context(), old, later))
	wantConflict(t, "FinishTask", s.work.FinishTask(t.Context(), finished, eventOf(tenant, eventID)))
	if after := s.writes.Load(); after != before {
		t.Errorf("an old generation changed rows: %d writes", after-before)
	}
	must(t, s.work.ExtendTask(t.Context(), current, later.Add(time.Hour)))
	_, err = s.work.ClaimTask(t.Context(), tenant, taskID, later.Add(30*time.Minute), later.Add(time.Hour))
	wantConflict(t, "a claim of an extended lease", err)
}

func TestAReportStoresTheProgressAndItsEventAtOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	task.Progress = webhook.Progress{QueriesDone: 3, QueriesPlanned: 9, Resources: 70, Bytes: 1 << 33}
	task.ProgressAt, task.ProgressSent = now.Add(20*time.Second), 1
	must(t, s.work.ReportTask(t.Context(), task, now.Add(80*time.Second), eventOf(tenant, eventID)))
	want := task
	want.LeaseUntil = now.Add(80 * time.Second)
	got, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if _, err := s.work.Event(t.Context(), tenant, eventID); err != nil {
		t.Errorf("the event: %v", err)
	}
}

func TestAWorkerThatGoesOnHasANewGenerationAndItsCheckpoint(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	task.Checkpoint, task.Setbacks, task.Progress = "test/a/checkpoint", 3, webhook.Progress{QueriesDone: 1, QueriesPlanned: 2}
	got, err := s.work.ContinueTask(t.Context(), task, now.Add(time.Hour))
	must(t, err)
	want := task
	want.Generation, want.Setbacks, want.LeaseUntil = task.Generation+1, 0, now.Add(time.Hour)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	wantConflict(t, "the generation before", s.work.ExtendTask(t.Context(), task, now.Add(2*time.Hour)))
	must(t, s.work.ExtendTask(t.Context(), got, now.Add(2*time.Hour)))
}

func TestAYieldedTaskCanBeClaimedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	task.Checkpoint, task.Setbacks = "test/a/checkpoint", 3
	must(t, s.work.YieldTask(t.Context(), task, now.Add(time.Hour)))

	want := task
	want.Generation, want.LeaseUntil = 2, now.Add(time.Minute)
	got, err := s.work.ClaimTask(t.Context(), tenant, taskID, now, now.Add(time.Minute))
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed task (-want +got):\n%s", diff)
	}
}

func succeeded(task export.Task) export.Task {
	task.Status = export.Success
	task.Stats = webhook.Stats{TotalResources: 3, TotalByResourceType: map[string]int{"Patient": 1, "Observation": 2}}
	task.Outcome = []export.TypeOutcome{{Type: "Patient", Result: export.OutcomeOK, Count: 1}, {Type: "Claim", Result: export.OutcomeDenied, Status: 403}}
	task.Files = []export.File{{
		Format: export.JSONLines, Name: "export.ndjson", Key: "test/a/export.ndjson", ContentType: "application/fhir+ndjson", Bytes: 1 << 33, SHA256: "00",
	}}
	task.Scope = export.Scope{Asked: "a b", Granted: "a"}
	task.FinishedAt, task.SentAt, task.FilesUntil = now.Add(time.Minute), now.Add(time.Minute), now.Add(8*24*time.Hour)
	task.LeaseUntil = time.Time{}
	return task
}

func TestFinishingATaskStoresItsResultAndEventAtOnce(t *testing.T) {
	t.Parallel()
	failed := export.Task{Status: export.Failed, FailureReason: export.ScopePatientMissing, FinishedAt: now, SentAt: now}
	tests := map[string]func(export.Task) export.Task{
		"success": succeeded,
		"failure": func(task export.Task) export.Task {
			failed.ID, failed.Tenant, failed.ConnectionID = task.ID, task.Tenant, task.ConnectionID
			failed.CreatedAt, failed.Generation = task.CreatedAt, task.Generation
			return failed
		},
	}
	for name, finish := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStores(t)
			want := finish(s.claim(t))
			must(t, s.work.FinishTask(t.Context(), want, eventOf(tenant, eventID)))

			got, err := s.work.Task(t.Context(), tenant, taskID)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
			_, err = s.work.Event(t.Context(), tenant, eventID)
			must(t, err)
			wantConflict(t, "finishing again", s.work.FinishTask(t.Context(), want, eventOf(tenant, "another")))
			_, err = s.work.ClaimTask(t.Context(), tenant, taskID, now.Add(time.Hour), now.Add(2*time.Hour))
			wantConflict(t, "claiming a finished task", err)
		})
	}
}

func TestATaskWhoseEventExistsStaysPending(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	must(t, s.work.CreateEvent(t.Context(), eventOf(tenant, eventID)))
	wantConflict(t, "FinishTask", s.work.FinishTask(t.Context(), succeeded(task), eventOf(tenant, eventID)))
	got, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
	if got.Status != export.Pending {
		t.Errorf("status = %s, want pending", got.Status)
	}
}

func TestOfManyResendsOfOneTaskOneIsStored(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := succeeded(s.claim(t))
	must(t, s.work.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	again := eventOf(tenant, "e0000000-0000-4000-8000-000000000002")
	again.CreatedAt = now.Add(time.Hour)
	if won := race(t, 10, func(ctx context.Context, _ int) error { return s.work.ResendEvent(ctx, task, again) }); won != 1 {
		t.Errorf("%d of 10 resends won, want 1", won)
	}
	wantConflict(t, "an old count with another event", s.work.ResendEvent(t.Context(), task, eventOf(tenant, "another")))
	want := task
	want.Resends, want.SentAt = 1, again.CreatedAt
	got, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	// The event of the next number exists already: the count stays as well.
	wantConflict(t, "a resend with an event that exists", s.work.ResendEvent(t.Context(), got, again))
	if after, err := s.work.Task(t.Context(), tenant, taskID); err != nil || after.Resends != 1 {
		t.Errorf("resends = %d (%v), want 1", after.Resends, err)
	}
}

func TestExpiringFilesEndsTheirTimeOnceAndLeavesTheRowDue(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	at, look := now.Add(time.Hour), now.Add(2*time.Hour)
	wantConflict(t, "the files of a pending task", s.work.ExpireFiles(t.Context(), task, at, look))
	task = succeeded(task)
	must(t, s.work.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	wantConflict(t, "another tenant's", s.work.ExpireFiles(t.Context(), export.Task{ID: taskID, Tenant: org.Tenant{Mode: org.Live, OrgID: orgA}}, at, look))
	wantConflict(t, "when their time is over", s.work.ExpireFiles(t.Context(), task, task.FilesUntil, look))

	if won := race(t, 10, func(ctx context.Context, _ int) error { return s.work.ExpireFiles(ctx, task, at, look) }); won != 1 {
		t.Errorf("%d of 10 requests ended their time, want 1", won)
	}
	want := task
	want.FilesUntil = at
	got, err := s.work.Task(t.Context(), tenant, taskID)
	must(t, err)
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

func TestTheFilesOfAFailedTaskHaveNoTimeToEnd(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task := s.claim(t)
	task.Status, task.FinishedAt, task.FilesUntil = export.Failed, now, now.Add(time.Hour)
	must(t, s.work.FinishTask(t.Context(), task, eventOf(tenant, eventID)))
	wantConflict(t, "ExpireFiles", s.work.ExpireFiles(t.Context(), task, now, now))
}
