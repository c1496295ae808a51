package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
)

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
	task.Scope = export.Scope{Asked: "a b", Granted: "a"}
	task.FinishedAt, task.SentAt, task.FilesUntil = now().Add(time.Minute), now().Add(time.Minute),
		now().Add(8*24*time.Hour)
	task.LeaseUntil = time.Time{}
	return task
}

func failed(task export.Task) export.Task {
	task.Status, task.FailureReason, task.FinishedAt, task.SentAt = export.Failed, export.ScopePatientMissing, now(), now()
	task.LeaseUntil = time.Time{}
	return task
}

func oneClaim(c subject[Tasks]) {
	t, s := c.t, c.store
	want := opened(t, s)
	for round, at := range []time.Time{now(), now().Add(time.Minute + time.Microsecond)} {
		if won := expect.Winners(t, 20, func(ctx context.Context, _ int) error {
			_, err := s.ClaimTask(ctx, tenantA(), taskID, at, at.Add(time.Minute))
			return err
		}); won != 1 {
			t.Errorf("%d of 20 claims in round %d won, want 1", won, round+1)
		}
		want.Generation, want.LeaseUntil = int64(round)+1, at.Add(time.Minute)
		wantTask(t, s, want)
		_, err := s.ClaimTask(t.Context(), tenantA(), taskID, want.LeaseUntil, want.LeaseUntil.Add(time.Minute))
		expect.Conflict(t, "a claim in the lease's last moment", err)
	}
	_, err := s.ClaimTask(t.Context(), tenantA(), taskNumber(9), now(), now().Add(time.Minute))
	expect.Conflict(t, "a claim of none", err)
}

func oldGeneration(c subject[Tasks]) {
	t, s := c.t, c.store
	old := claimed(t, s)
	later := now().Add(2 * time.Minute)
	current, err := s.ClaimTask(t.Context(), tenantA(), taskID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	old.Checkpoint, old.Failures = "stolen", 4
	wantRefused(t, s, old)
	wantTask(t, s, current)
	expect.NoError(t, s.ExtendTask(t.Context(), current, later.Add(time.Hour)))
	_, err = s.ClaimTask(t.Context(), tenantA(), taskID, later.Add(30*time.Minute), later.Add(time.Hour))
	expect.Conflict(t, "a claim of an extended lease", err)
}

// wantRefused checks that writes are rejected if the worker does not hold the task.
func wantRefused(t *testing.T, s Tasks, task export.Task) {
	t.Helper()
	later := now().Add(time.Hour)
	event := eventOf(eventID)
	event.Tenant = task.Tenant
	expect.Conflict(t, "ExtendTask", s.ExtendTask(t.Context(), task, later))
	expect.Conflict(t, "ReportTask", s.ReportTask(t.Context(), task, later, event))
	_, err := s.ContinueTask(t.Context(), task, later)
	expect.Conflict(t, "ContinueTask", err)
	expect.Conflict(t, "YieldTask", s.YieldTask(t.Context(), task, later, later))
	expect.Conflict(t, "FinishTask", s.FinishTask(t.Context(), succeeded(task), event))
	_, err = s.Event(t.Context(), task.Tenant, event.ID)
	expect.NotFound(t, "the event of a refused write", err)
}

func reported(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	task.Progress = webhook.Progress{QueriesDone: 3, QueriesPlanned: 9, Resources: 70, Bytes: 1 << 33}
	expect.NoError(t, s.ExtendTask(t.Context(), task, now().Add(70*time.Second)))
	task.LeaseUntil = now().Add(70 * time.Second)
	wantTask(t, s, task)

	task.Progress.Resources++
	task.ProgressAt, task.ProgressSent = now().Add(20*time.Second), 1
	expect.NoError(t, s.ReportTask(t.Context(), task, now().Add(80*time.Second), eventOf(eventID)))
	task.LeaseUntil = now().Add(80 * time.Second)
	wantTask(t, s, task)
	if _, err := s.Event(t.Context(), tenantA(), eventID); err != nil {
		t.Errorf("the event: %v", err)
	}
}

func continued(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	task.Checkpoint, task.Failures, task.Progress = "test/a/checkpoint", 3,
		webhook.Progress{QueriesDone: 1, QueriesPlanned: 2}
	got, err := s.ContinueTask(t.Context(), task, now().Add(time.Hour))
	expect.NoError(t, err)
	want := task
	want.Generation, want.Failures, want.LeaseUntil = task.Generation+1, 0, now().Add(time.Hour)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	wantTask(t, s, want)
	wantRefused(t, s, task)
	expect.NoError(t, s.ExtendTask(t.Context(), got, now().Add(2*time.Hour)))
}

func yielded(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	task.Checkpoint, task.Failures = "test/a/checkpoint", 3
	expect.NoError(t, s.YieldTask(t.Context(), task, time.Time{}, now().Add(time.Hour)))
	want := task
	want.Generation, want.LeaseUntil = 2, time.Time{}
	wantTask(t, s, want)
	wantRefused(t, s, task)
	want.Generation, want.LeaseUntil = 3, now().Add(time.Minute)
	got, err := s.ClaimTask(t.Context(), tenantA(), taskID, now(), now().Add(time.Minute))
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed task (-want +got):\n%s", diff)
	}
}

func putOff(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	task.Checkpoint, task.Failures = "test/a/checkpoint", 3
	until := now().Add(time.Hour)
	expect.NoError(t, s.YieldTask(t.Context(), task, until, until.Add(time.Minute)))
	want := task
	want.Generation, want.LeaseUntil, want.Deferred = 2, until, true
	wantTask(t, s, want)
	wantRefused(t, s, task) // the worker's heartbeat would shorten the wait
	expect.Conflict(t, "joining the line after giving the task back", s.JoinLine(t.Context(), task, now()))
	for _, early := range []time.Time{now(), now().Add(2 * time.Minute), until} {
		_, err := s.ClaimTask(t.Context(), tenantA(), taskID, early, early.Add(time.Minute))
		expect.Conflict(t, "a claim before the time", err)
	}
	wantTask(t, s, want)
	at := until.Add(time.Microsecond)
	if won := expect.Winners(t, 20, func(ctx context.Context, _ int) error {
		_, err := s.ClaimTask(ctx, tenantA(), taskID, at, at.Add(time.Minute))
		return err
	}); won != 1 {
		t.Errorf("%d of 20 claims after the wait won, want 1", won)
	}
	want.Generation, want.LeaseUntil, want.Deferred = 3, at.Add(time.Minute), false
	wantTask(t, s, want)

	expect.NoError(t, s.YieldTask(t.Context(), want, until.Add(time.Hour), until.Add(time.Hour)))
	want.Generation++
	ended := failed(want)
	ended.Deferred = false
	expect.NoError(t, s.FinishTask(t.Context(), ended, eventOf(eventID)))
	wantTask(t, s, ended)
}

func finished(c subject[Tasks]) {
	t, s := c.t, c.store
	previous := ""
	for i, finish := range []func(export.Task) export.Task{succeeded, failed} {
		id := taskNumber(i)
		expect.NoError(t, s.OpenTask(t.Context(), pendingTask(id), previous))
		task, err := s.ClaimTask(t.Context(), tenantA(), id, now(), now().Add(time.Minute))
		expect.NoError(t, err)
		want := finish(task)
		expect.NoError(t, s.FinishTask(t.Context(), want, eventOf(id)))
		wantTask(t, s, want)
		_, err = s.Event(t.Context(), tenantA(), id)
		expect.NoError(t, err)
		wantRefused(t, s, want)
		_, err = s.ClaimTask(t.Context(), tenantA(), id, now().Add(time.Hour), now().Add(2*time.Hour))
		expect.Conflict(t, "claiming a finished task", err)
		previous = id
	}
}

func unfinished(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	expect.NoError(t, s.CreateEvent(t.Context(), eventOf(eventID)))
	expect.Conflict(t, "FinishTask", s.FinishTask(t.Context(), succeeded(task), eventOf(eventID)))
	expect.Conflict(t, "ReportTask", s.ReportTask(t.Context(), task, now().Add(time.Hour), eventOf(eventID)))
	wantTask(t, s, task)
}

func givenUp(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	later := now().Add(time.Hour)
	_, claim := s.ClaimTask(ctx, tenantA(), taskID, later, later.Add(time.Minute))
	_, onward := s.ContinueTask(ctx, task, later)
	for call, err := range map[string]error{
		"ClaimTask": claim, "ContinueTask": onward, "ExtendTask": s.ExtendTask(ctx, task, later),
		"ReportTask": s.ReportTask(ctx, task, later, eventOf(eventID)), "YieldTask": s.YieldTask(ctx, task, later, later),
		"FinishTask": s.FinishTask(ctx, succeeded(task), eventOf(eventID)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v, want context.Canceled", call, err)
		}
	}
	wantTask(t, s, task)
	_, err := s.Event(t.Context(), tenantA(), eventID)
	expect.NotFound(t, "the event of who has given up", err)
}

func claimOfTenant(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	for _, other := range others() {
		_, err := s.ClaimTask(t.Context(), other, taskID, now().Add(time.Hour), now().Add(2*time.Hour))
		expect.Conflict(t, "claiming as another", err)
		foreign := task
		foreign.Tenant = other
		wantRefused(t, s, foreign)
	}
	wantTask(t, s, task)
}
