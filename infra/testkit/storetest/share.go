package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/words/org"
)

// Shares tests a store against the requirements of share.Share. A slot must belong to a single task for the duration of
// the slot's lease. A queued task must not be claimed until CallTask removes it from the queue.
func Shares(t *testing.T, open func(tb testing.TB, of org.Tenant, connectionID string) Tasks) {
	t.Helper()
	run(t, connected(open), map[string]func(subject[Tasks]){
		"of many who take a place one has it":           onePlace,
		"a place is taken only as it was seen":          placeAsSeen,
		"who has lost a place does not keep or free it": lostPlace,
		"who is in line can be claimed once called":     calledFromLine,
		"only who has the task's lease puts it in line": joinedByHolder,
		"the line is in the order of creation":          lineInOrder,
		"a line is announced until it is ended":         announced,
		"a share is its tenant's":                       shareOfTenant,
	})
}

func wantShare(t *testing.T, s Tasks, want share.Row) {
	t.Helper()
	got, err := s.Share(t.Context(), tenantA())
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("share (-want +got):\n%s", diff)
	}
}

func holding(id int, until time.Duration) share.Holder {
	return share.Holder{TaskID: taskNumber(id), Claim: int64(id), Until: now().Add(until)}
}

func placeOf(id, number int) share.Place {
	return share.Place{Tenant: tenantA(), TaskID: taskNumber(id), Claim: int64(id), Number: number}
}

func onePlace(c subject[Tasks]) {
	t, s := c.t, c.store
	wantShare(t, s, share.Row{})
	if won := expect.Winners(t, 20, func(ctx context.Context, i int) error {
		return s.TakePlace(ctx, tenantA(), share.Row{}, 7, holding(i, time.Minute))
	}); won != 1 {
		t.Errorf("%d of 20 have the place, want 1", won)
	}
	expect.NoError(t, s.TakePlace(t.Context(), tenantA(), share.Row{}, 17, holding(40, time.Minute)))
	got, err := s.Share(t.Context(), tenantA())
	expect.NoError(t, err)
	if len(got.Places) != 2 || got.Places[7].TaskID == "" || got.Places[17] != holding(40, time.Minute) {
		t.Errorf("share %+v", got)
	}
}

func placeAsSeen(c subject[Tasks]) {
	t, s := c.t, c.store
	seen := share.Row{Places: map[int]share.Holder{0: holding(1, time.Minute)}}
	expect.Conflict(t, "a place that nobody has, seen as somebody's",
		s.TakePlace(t.Context(), tenantA(), seen, 0, holding(2, time.Minute)))
	expect.NoError(t, s.TakePlace(t.Context(), tenantA(), share.Row{}, 0, holding(1, time.Minute)))
	expect.Conflict(t, "a place that was free",
		s.TakePlace(t.Context(), tenantA(), share.Row{}, 0, holding(2, time.Minute)))
	expect.NoError(t, s.KeepPlace(t.Context(), placeOf(1, 0), now().Add(2*time.Minute)))
	expect.Conflict(t, "a place that was kept since",
		s.TakePlace(t.Context(), tenantA(), seen, 0, holding(2, time.Minute)))
	expect.NoError(t, s.AnnounceLine(t.Context(), tenantA(), now(), now()))
	expect.Conflict(t, "a place behind a new line",
		s.TakePlace(t.Context(), tenantA(), share.Row{}, 1, holding(2, time.Minute)))
	seen = share.Row{Places: map[int]share.Holder{0: holding(1, 2*time.Minute)}, JoinedAt: now()}
	wantShare(t, s, seen)
	expect.NoError(t, s.TakePlace(t.Context(), tenantA(), seen, 0, holding(2, time.Hour)))
	wantShare(t, s, share.Row{Places: map[int]share.Holder{0: holding(2, time.Hour)}, JoinedAt: now()})
}

func lostPlace(c subject[Tasks]) {
	t, s := c.t, c.store
	taken := share.Row{Places: map[int]share.Holder{3: holding(1, time.Minute)}}
	expect.NoError(t, s.TakePlace(t.Context(), tenantA(), share.Row{}, 3, holding(1, time.Minute)))
	otherClaim := placeOf(1, 3)
	otherClaim.Claim++
	for what, place := range map[string]share.Place{
		"another task": placeOf(2, 3), "another place": placeOf(1, 4), "another claim": otherClaim,
	} {
		expect.Conflict(t, "keeping as "+what, s.KeepPlace(t.Context(), place, now().Add(time.Hour)))
		_, err := s.LeavePlace(t.Context(), place)
		expect.Conflict(t, "leaving as "+what, err)
	}
	wantShare(t, s, taken)
	after, err := s.LeavePlace(t.Context(), placeOf(1, 3))
	expect.NoError(t, err)
	if len(after.Places) != 0 {
		t.Errorf("left is %+v", after)
	}
	wantShare(t, s, share.Row{})
}

func calledFromLine(c subject[Tasks]) {
	t, s := c.t, c.store
	want := claimed(t, s)
	expect.NoError(t, s.JoinLine(t.Context(), want, now().Add(time.Second)))
	want.WaitingSince, want.LeaseUntil = now().Add(time.Second), time.Time{}
	wantTask(t, s, want)
	later := now().Add(time.Hour)
	_, err := s.ClaimTask(t.Context(), tenantA(), taskID, later, later.Add(time.Minute))
	expect.Conflict(t, "claiming a task in line", err)

	early := want
	early.WaitingSince = now()
	expect.Conflict(t, "calling a task that was seen in line before", s.CallTask(t.Context(), early, later))
	want.Waited = time.Hour
	if won := expect.Winners(t, 20, func(ctx context.Context,
		_ int,
	) error {
		return s.CallTask(ctx, want, later)
	}); won != 1 {
		t.Errorf("%d of 20 have called the task, want 1", won)
	}
	want.WaitingSince = time.Time{}
	wantTask(t, s, want)
	got, err := s.ClaimTask(t.Context(), tenantA(), taskID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	if got.Waited != time.Hour || got.Generation != want.Generation+1 {
		t.Errorf("claimed %+v", got)
	}
}

func joinedByHolder(c subject[Tasks]) {
	t, s := c.t, c.store
	old := claimed(t, s)
	later := now().Add(2 * time.Minute)
	current, err := s.ClaimTask(t.Context(), tenantA(), taskID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	expect.Conflict(t, "joining with an old generation", s.JoinLine(t.Context(), old, later))
	expect.NoError(t, s.JoinLine(t.Context(), current, later))
	expect.Conflict(t, "joining without a lease", s.JoinLine(t.Context(), current, later.Add(time.Second)))
	current.WaitingSince, current.LeaseUntil = later, time.Time{}
	wantTask(t, s, current)
}

func lineInOrder(c subject[Tasks]) {
	t, s := c.t, c.store
	previous := ""
	for i, age := range []time.Duration{2 * time.Minute, 3 * time.Minute, time.Minute} {
		task := pendingTask(taskNumber(i))
		task.CreatedAt = now().Add(-age)
		expect.NoError(t, s.OpenTask(t.Context(), task, previous))
		task, err := s.ClaimTask(t.Context(), tenantA(), task.ID, now(), now().Add(time.Minute))
		expect.NoError(t, err)
		expect.NoError(t, s.JoinLine(t.Context(), task, now().Add(time.Duration(i)*time.Second)))
		previous = task.ID
	}
	line, err := s.Line(t.Context(), tenantA(), 2)
	expect.NoError(t, err)
	want := []share.Waiting{
		{TaskID: taskNumber(1), CreatedAt: now().Add(-3 * time.Minute)},
		{TaskID: taskNumber(0), CreatedAt: now().Add(-2 * time.Minute)},
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("the first two (-want +got):\n%s", diff)
	}
	first, err := s.Task(t.Context(), tenantA(), taskNumber(1))
	expect.NoError(t, err)
	expect.NoError(t, s.CallTask(t.Context(), first, now()))
	if line, err = s.Line(t.Context(), tenantA(), 9); err != nil || len(line) != 2 || line[0].TaskID != taskNumber(0) {
		t.Errorf("after a call: %+v, %v", line, err)
	}
}

func announced(c subject[Tasks]) {
	t, s := c.t, c.store
	expect.NoError(t, s.AnnounceLine(t.Context(), tenantA(), now(), now().Add(time.Minute)))
	expect.NoError(t, s.AnnounceLine(t.Context(), tenantA(), now().Add(time.Hour), now().Add(2*time.Hour)))
	// simulates a worker with a slow clock
	expect.NoError(t, s.AnnounceLine(t.Context(), tenantA(), now(), now().Add(2*time.Hour)))
	wantShare(t, s, share.Row{JoinedAt: now().Add(time.Hour)})
	expect.Conflict(t, "ending a line that was announced again", s.EndLine(t.Context(), tenantA(), now()))
	expect.NoError(t, s.EndLine(t.Context(), tenantA(), now().Add(time.Hour)))
	wantShare(t, s, share.Row{})
}

func shareOfTenant(c subject[Tasks]) {
	t, s := c.t, c.store
	task := claimed(t, s)
	expect.NoError(t, s.TakePlace(t.Context(), tenantA(), share.Row{}, 0, holding(1, time.Minute)))
	expect.NoError(t, s.JoinLine(t.Context(), task, now()))
	for _, other := range others() {
		if got, err := s.Share(t.Context(), other); err != nil || len(got.Places) != 0 {
			t.Errorf("another's share: %+v, %v", got, err)
		}
		if line, err := s.Line(t.Context(), other, 9); err != nil || len(line) != 0 {
			t.Errorf("another's line: %+v, %v", line, err)
		}
		place := placeOf(1, 0)
		place.Tenant = other
		expect.Conflict(t, "keeping another's place", s.KeepPlace(t.Context(), place, now()))
		foreign := export.Task{ID: task.ID, Tenant: other, Generation: task.Generation, WaitingSince: now()}
		expect.Conflict(t, "calling another's task", s.CallTask(t.Context(), foreign, now()))
	}
}
