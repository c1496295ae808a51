package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

func (s stores) erasures() store.Erasures {
	return store.NewErasures(s.conns, s.work, s.tokens, s.db)
}

func (s stores) rows(t *testing.T, table, pk string) int {
	t.Helper()
	out, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(s.names[table]), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	})
	expect.NoError(t, err)
	return len(out.Items)
}

func erasureOf(of org.Tenant) erase.Erasure {
	return erase.Erasure{
		ID: eventID, Tenant: of, Stage: erase.Events, Actor: "member:m", RequestedAt: now, Portal: erase.Asked,
		Counts:       erase.Counts{Connections: 1, Files: 7},
		ConnectionID: connID, Tasks: []string{taskID, taskNumber(1)}, EventIDs: []string{eventID},
		DeliveryIDs: []string{delivID}, InquiryIDs: []string{eventID}, Since: now.Add(-time.Hour),
		At: erase.Place{MadeAt: now, ID: eventID}, MoreEvents: true, DueAt: now.Add(time.Minute),
	}
}

func TestErasureRoundTripsAndBecomesDue(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	e := erasureOf(tenant)
	expect.NoError(t, s.requests.CreateErasure(t.Context(), e))
	expect.Conflict(t, "creating it again", s.requests.CreateErasure(t.Context(), e))
	e.Rev = 1
	for _, change := range []func(){func() {}, func() { e.Stage, e.FinishedAt, e.DueAt = erase.Done, now, time.Time{} }} {
		change()
		expect.NoError(t, s.requests.SaveErasure(t.Context(), e))
		expect.Conflict(t, "saving an old revision", s.requests.SaveErasure(t.Context(), e))
		e.Rev++
		got, err := s.requests.Erasure(t.Context(), tenant, eventID)
		expect.NoError(t, err)
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("erasure (-want +got):\n%s", diff)
		}
		for minutes := range 2 {
			want := minutes
			if e.Stage == erase.Done {
				want = 0
			}
			due, err := s.erasures().DueErasures(t.Context(), now.Add(time.Duration(minutes)*time.Minute))
			expect.NoError(t, err)
			if len(due) != want || want == 1 && (due[0].Tenant != tenant || due[0].ID != eventID) {
				t.Errorf("%s: due after %d minutes: %+v", e.Stage, minutes, due)
			}
		}
	}
	if due := s.allDue(t, now.Add(time.Hour)); len(due) != 0 {
		t.Errorf("the sweeper finds %v", due)
	}
	_, err := s.requests.Erasure(t.Context(), org.Tenant{Mode: org.Live, OrgID: orgA}, eventID)
	expect.NotFound(t, "the other mode's", err)
}

// TestErasedConnectionIsNotRecreated covers a worker that was processing a connection during its erasure. The worker
// must find no rows and store nothing.
func TestErasedConnectionIsNotRecreated(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	task, delivery, held := s.claim(t), s.fanOut(t, tenant), tokensOf(tenant)
	seen, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	later := eventOf(tenant, "e0000000-0000-4000-8000-000000000002")
	expect.NoError(t, s.events.CreateEvent(t.Context(), later))
	expect.NoError(t, s.places.TakePlace(t.Context(), tenant, share.Row{}, 3,
		share.Holder{TaskID: taskID, Claim: 1, Until: now}))

	all, ctx := s.erasures(), t.Context()
	expect.Conflict(t, "removing what is authorized", all.RemoveConnection(ctx, tenant, connID, now))
	if s.rows(t, "TokensTable", tenant.Key()+"#CONN#"+connID) != 1 {
		t.Error("the tokens of an authorized connection are gone")
	}
	seen.Status = connection.Revoked
	expect.NoError(t, store.NewRefresh(s.conns, s.tokens, s.events).SaveConnection(ctx, seen, webhook.Event{}))
	seen.Rev++
	for range 2 {
		expect.NoError(t, all.RemoveConnection(ctx, tenant, connID, now))
		expect.NoError(t, all.RemoveExports(ctx, tenant, connID, []string{taskID}))
		expect.NoError(t, all.RemoveDelivery(ctx, tenant, delivID))
		expect.NoError(t, all.RemoveEvent(ctx, tenant, eventID))
		expect.NoError(t, all.RemoveEvent(ctx, tenant, later.ID))
	}

	seen.Status = connection.Authorized
	held.Version = 2
	failed, event, err := task.Fail(export.ScopePatientMissing, now)
	expect.NoError(t, err)
	back := s.reconnecting(t, secondAttempt, seen.Rev, 2)
	for what, write := range map[string]func() error{
		"a refresh":             func() error { return s.tokens.RotateTokens(ctx, held) },
		"a lease on tokens":     func() error { return s.tokens.LeaseTokens(ctx, tokensOf(tenant), now) },
		"a refresh's result":    func() error { return s.refresh.SaveConnection(ctx, seen, webhook.Event{}) },
		"a refresh that is due": func() error { return s.conns.RefreshDue(ctx, tenant, connID, now) },
		"a new export":          func() error { return s.register.OpenTask(ctx, pendingTask(tenant), "") },
		"an export's lease":     func() error { return s.tasks.ExtendTask(ctx, task, now) },
		"an export's checkpoint": func() error {
			_, err := s.tasks.ContinueTask(ctx, task, now)
			return err
		},
		"an export's result":  func() error { return s.tasks.FinishTask(ctx, failed, event) },
		"a result told again": func() error { return s.tasks.ResendEvent(ctx, task, event) },
		"deliveries":          func() error { return s.events.FanOut(ctx, later, []webhook.Delivery{delivery}) },
		"an attempt": func() error {
			return s.deliveries.RecordAttempt(ctx, delivery,
				webhook.Attempt{Number: 1, At: now})
		},
		"a delivery that is put off": func() error { return s.deliveries.ParkDelivery(ctx, delivery) },
		"a patient's return":         func() error { return s.flow.ConcludeAttempt(ctx, back) },
	} {
		expect.Conflict(t, what, write())
	}
	for pk, table := range map[string]string{
		"CONN#" + connID: "ConnectionTable", "TASK#" + taskID: "WorkTable", "LATEST#" + connID: "WorkTable",
		"EVENT#" + eventID:  "WorkTable",
		"EVENT#" + event.ID: "WorkTable", "EVENT#" + later.ID: "WorkTable", "DELIV#" + delivID: "WorkTable",
	} {
		if n := s.rows(t, table, tenant.Key()+"#"+pk); n != 0 {
			t.Errorf("%d rows of %s are in %s", n, pk, table)
		}
	}
	for _, kind := range []string{"CONN", "UPSTREAM"} {
		if n := s.rows(t, "TokensTable", tenant.Key()+"#"+kind+"#"+connID); n != 0 {
			t.Errorf("%d rows of %s", n, kind)
		}
	}
	if row, err := s.places.Share(ctx, tenant); err != nil || len(row.Places) != 0 {
		t.Errorf("places %+v (%v)", row.Places, err)
	}
}

func TestExportsListsNewestFirst(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	previous := ""
	var want []string
	for i := range 3 {
		task := pendingTask(tenant)
		task.ID = taskNumber(i)
		expect.NoError(t, s.register.OpenTask(t.Context(), task, previous))
		previous = task.ID
		want = append([]string{task.ID}, want...)
	}
	got, err := s.erasures().Exports(t.Context(), tenant, connID)
	expect.NoError(t, err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("exports %v, want %v", got, want)
	}
	if got, err = s.erasures().Exports(t.Context(), tenant, "none"); err != nil || len(got) != 0 {
		t.Errorf("of another: %v %v", got, err)
	}
}
